"""Small made-up conversations in several languages, each with what is asked of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from goalmem_cli.records import Conversation, Turn


@dataclass(frozen=True)
class Sample:
    """Lines of a conversation, a query in its language, and the number of the line that it is to find."""

    language: str
    lines: tuple[str, ...]
    query: str
    found: int

    def conversation(self, name: str = "") -> Conversation:
        """Return it as a conversation."""
        called = name or self.language
        turns = []
        for place, line in enumerate(self.lines):
            speaker, text = line.split(": ", 1)
            turns.append(Turn(called, 0, place, speaker, text, datetime(2024, 3, 1, 10) + timedelta(minutes=place)))
        return Conversation(called, "markdown", tuple(turns), called)


SAMPLES = (
    Sample("de", (
        "Käthe: Hallo Jonas, wie ist die neue Wohnung in Bremen?",
        "Jonas: Sehr schön! Ich bin letzten Freitag von Ulm nach Bremen gezogen. Die Miete beträgt 1.150,50 Euro.",
        "Käthe: Das ist teuer. Ich wohne immer noch in Kassel und zahle die Hälfte.",
        "Jonas: Dafür habe ich einen Balkon und drei Zimmer. Meine Katze heißt Mimi.",
    ), "Balkone", 3),
    Sample("es", (
        "Lucía: ¿Cómo te va en la casa nueva, Mateo?",
        "Mateo: Muy bien, tiene dos habitaciones y una terraza. Pago novecientos euros al mes.",
        "Lucía: Yo sigo viviendo en Granada con mi hermana Inés, que trabaja de enfermera.",
        "Mateo: Mi perro se llama Trueno y duerme en la cocina.",
    ), "la habitación de Mateo", 1),
    Sample("fr", (
        "Camille: Comment va ton nouveau travail à Lyon, Hugo ?",
        "Hugo: Très bien, je travaille dans une librairie depuis le mois de mars.",
        "Camille: Moi, j'habite encore à Nantes avec mes deux chats, Miel et Prune.",
        "Hugo: Ma sœur Élodie apprend le violoncelle.",
    ), "les librairies de Hugo", 1),
    Sample("pt", (
        "Rita: Como está a casa nova em Coimbra, Tiago?",
        "Tiago: Ótima, tem um jardim com três laranjeiras. A renda custa oitocentos euros.",
        "Rita: Eu ainda moro no Porto com a minha irmã Beatriz, que é veterinária.",
        "Tiago: O meu gato chama-se Feijão.",
    ), "uma laranjeira", 1),
    Sample("zh", (
        "小雨: 我上周五搬到了杭州，房租每个月三千五百块。",
        "阿明: 恭喜！我还住在成都，下个月开始新工作。",
        "小雨: 你的新工作是什么？",
        "阿明: 我要在一家医院当护士。",
    ), "小雨的房租", 0),
    Sample("ja", (
        "美咲: 先週の金曜日に大阪へ引っ越しました。家賃は七万円です。",
        "健太: おめでとう！私はまだ札幌に住んでいます。",
        "美咲: 新しい仕事はどうですか？",
        "健太: 図書館で働いています。猫の名前はモモです。",
    ), "大阪の家賃", 0),
)  # fmt: skip
BY_LANGUAGE = {each.language: each for each in SAMPLES}
OTHER_SCRIPTS = (
    Sample("ar", (
        "سلمى: انتقلت إلى الإسكندرية الأسبوع الماضي.",
        "كريم: وأنا ما زلت أسكن في القاهرة وأعمل في مكتبة كبيرة.",
        "سلمى: قطتي اسمها لولو وتحب السمك.",
    ), "مكتبة القاهرة", 1),
    Sample("he", (
        "נועה: עברתי לחיפה בשבוע שעבר, והדירה קטנה.",
        "אורי: אני עדיין גר בתל אביב ועובד בספרייה.",
        "נועה: הכלבה שלי נקראת שוקו.",
    ), "ספרייה תל אביב", 1),
    Sample("hi", (
        "मीरा: मैं पिछले हफ़्ते जयपुर आ गई, किराया आठ हज़ार रुपये है।",
        "राहुल: मैं अब भी दिल्ली में रहता हूँ और पुस्तकालय में काम करता हूँ।",
        "मीरा: मेरी बिल्ली का नाम गुड़िया है।",
    ), "दिल्ली पुस्तकालय", 1),
    Sample("ru", (
        "Маша: Я на прошлой неделе переехала в Казань, квартира маленькая.",
        "Егор: А я всё ещё живу в Твери и работаю в библиотеке.",
        "Маша: Мою кошку зовут Фрося.",
    ), "библиотеки Твери", 1),
    Sample("", (
        "נועה: I meet كريم في المكتبة on Friday, dann Kaffee mit मीरा",
        "Farid: ok yalla, ספרייה um 18:30, मिलते हैं!",
        "נועה: 小雨 aussi? שבת y buenas noches",
    ), "ספרייה मिलते", 1),
)  # fmt: skip
