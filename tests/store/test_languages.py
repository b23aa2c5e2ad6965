"""A question finds its turn in every script, however each of the two was typed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.memory_records import Ranking
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query
from goalmem_cli.store.indexes.folding import fold, runs, spaced
from goalmem_cli.store.store import Store
from tests.store.samples import chat, open_store

CHINESE = (
    "昨天我在京都的一家小咖啡馆喝了抹茶拿铁。",
    "我妹妹下个月要搬到上海去工作。",
    "医生说我应该每天走一万步。",
    "周末我们去爬山,可是下雨了。",
    "我在Momoco点了Kyoto拿铁,真好喝!",
)
JAPANESE = (
    "先週の金曜日に母と温泉へ行きました。",
    "うちの猫は魚よりも鶏肉が好きです。",
    "来月から東京の図書館で働くことになった。",
    "コーヒーをやめて、ほうじ茶を飲んでいます。",
    "人々は駅前の広場に集まっていた。",
)
KOREAN = (
    "어제 친구와 함께 홍대에서 커피를 마셨어요.",
    "내 동생은 다음 달에 부산으로 이사해요.",
    "의사 선생님이 매일 걸으라고 했어요.",
    "주말에 등산을 가려고 했는데 비가 왔어요.",
)
THAI = (
    "เมื่อวานฉันดื่มกาแฟเย็นที่ร้านใกล้สถานีรถไฟ",
    "น้องสาวของฉันจะย้ายไปเชียงใหม่เดือนหน้า",
    "หมอบอกให้เดินทุกวันและนอนเร็วขึ้น",
    "สุดสัปดาห์นี้ฝนตกเลยไม่ได้ไปทะเล",
)
ARABIC = (
    "شربتُ القهوة مع أختي في مقهى صغير أمس.",
    "سافر أحمد إلى القاهرة في الشهر الماضي.",
    "قال الطبيب إنني أحتاج إلى المشي كل يوم.",
    "اشترت مُنَى مكتبةً قديمة قرب الجامعة.",
)
HEBREW = (
    "שתיתי קפה עם אחותי בתל אביב אתמול.",
    "בַּשָּׁנָה הַבָּאָה נַעֲבֹר לִירוּשָׁלַיִם.",
    "הרופא אמר לי ללכת ברגל כל יום.",
    "הכלב שלנו אוהב לשחות בים.",
)
PERSIAN = (
    "دیروز با خواهرم در کافه‌ای کوچک چای خوردم.",
    "برادرم ماه آینده به اصفهان می‌رود.",
    "پزشک گفت هر روز پیاده‌روی کنم.",
    "کتاب‌های قدیمی را به کتابخانه دادم.",
)
FRENCH = (
    "Hier, j'ai dîné à l'hôtel près de la forêt.",
    "Ma sœur aînée déménage à Orléans en février.",
    "Le médecin m'a conseillé de marcher chaque jour.",
    "Où as-tu acheté ce gâteau à la crème brûlée ?",
)
GERMAN = (
    "Gestern habe ich in der Goethestraße ein Käsebrötchen gegessen.",
    "Meine Schwester zieht im März nach München um.",
    "Der Arzt sagt, ich müsse täglich spazieren gehen.",
    "Das Fußballspiel wurde wegen Regen verschoben.",
)
TURKISH = (
    "Dün kız kardeşimle Kadıköy'de çay içtik.",
    "Ağabeyim önümüzdeki ay İzmir'e taşınıyor.",
    "Doktor her gün yürümemi söyledi.",
    "IĞDIR'dan gelen kayısılar çok güzeldi.",
)
RUSSIAN = (
    "Вчера мы с сестрой пили кофе в маленькой кофейне.",
    "Мой брат переезжает в Казань в следующем месяце.",
    "Врач велел мне ходить пешком каждый день.",
    "Ёлку мы поставили в гостиной ещё в декабре.",
)
GREEK = (
    "Χθες ήπια καφέ με την αδελφή μου στη Θεσσαλονίκη.",
    "Ο αδελφός μου μετακομίζει στην Πάτρα τον Μάρτιο.",
    "Ο γιατρός είπε να περπατάω κάθε μέρα.",
    "Ο σκύλος μας αγαπάει τη θάλασσα.",
)
HINDI = (
    "कल मैंने अपनी बहन के साथ दिल्ली में चाय पी।",
    "मेरा भाई अगले महीने मुंबई जा रहा है।",
    "डॉक्टर ने मुझे रोज़ पैदल चलने को कहा।",
    "हिन्दी की किताबें पुस्तकालय में मिलती हैं।",
    "क्या तुमने वह पुरानी साइकिल बेच दी?",
)
EMOJI = (
    "That ramen place was so good 🍜🍜",
    "Happy birthday!! 🎂🎉",
    "Thanks a lot 👍🏽 see you soon",
    "The girls and I: 👩‍👩‍👧 at the lake",
    "Flying out tomorrow 🇯🇵✈️",
    "I ❤️ this song",
)
NUMBERS = ("The flat costs ９５０ euros.", "رقم الغرفة هو ٤٢.", "कमरा नंबर १७ है।", "Call me at 555.")


Stores = Callable[[Sequence[str]], Store]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """A store of some sentences and a few English ones, made once."""
    made: dict[Sequence[str], Store] = {}

    def store_of(sentences: Sequence[str]) -> Store:
        if sentences not in made:
            made[sentences] = open_store(tmp_path_factory.mktemp("language") / "store")
            made[sentences].add(chat([*sentences, "I only had tea.", "Nothing else happened."], per_session=1))
        return made[sentences]

    return store_of


def best(store: Store, query: str, ranking: Ranking = Ranking.BM25) -> str | None:
    """Return the sentence that the ranking puts first, or None where it finds none."""
    ids = [scored.unit for scored in store.rank(Query(query), [ranking], 10)[ranking]]
    return next((hit.unit.text for hit in store.hits(ids).values()), None)


@pytest.mark.parametrize(
    ("sentences", "query", "place"),
    [
        pytest.param(CHINESE, "谁在京都喝了抹茶?", 0, id="chinese"),
        pytest.param(CHINESE, "妹妹搬到哪里", 1, id="chinese-sister"),
        pytest.param(CHINESE, "Momoco", 4, id="chinese-mixed-latin"),
        pytest.param(CHINESE, "kyoto", 4, id="chinese-mixed-case"),
        pytest.param(CHINESE, "点了", 4, id="chinese-mixed-own"),
        pytest.param(JAPANESE, "猫は何が好きですか", 1, id="japanese"),
        pytest.param(JAPANESE, "ｺｰﾋｰ", 3, id="japanese-halfwidth"),
        pytest.param(JAPANESE, unicodedata.normalize("NFD", "ほうじ茶"), 3, id="japanese-decomposed"),
        pytest.param(JAPANESE, "人々", 4, id="japanese-repetition-mark"),
        pytest.param(KOREAN, "누가 부산으로 이사하나요?", 1, id="korean"),
        pytest.param(KOREAN, "커피", 0, id="korean-within-a-word"),
        pytest.param(KOREAN, unicodedata.normalize("NFD", "등산"), 3, id="korean-decomposed"),
        pytest.param(THAI, "น้องสาวจะย้ายไปไหน", 1, id="thai"),
        pytest.param(THAI, "กาแฟ", 0, id="thai-within-a-run"),
        pytest.param(ARABIC, "متى سافر احمد الى القاهره", 1, id="arabic-plain-letters"),
        pytest.param(ARABIC, "منى", 3, id="arabic-without-vowels"),
        pytest.param(ARABIC, "الطَّبِيبُ", 2, id="arabic-with-vowels"),
        pytest.param(ARABIC, "القـــاهرة", 1, id="arabic-stretched"),
        pytest.param(HEBREW, "לירושלים", 1, id="hebrew-without-points"),
        pytest.param(HEBREW, "הָרוֹפֵא", 2, id="hebrew-with-points-in-the-question"),
        pytest.param(HEBREW, "הַכֶּלֶב", 3, id="hebrew-with-points-in-another"),
        pytest.param(PERSIAN, "برادرم کی به اصفهان می رود", 1, id="persian-with-a-space"),
        pytest.param(PERSIAN, "كتاب", 3, id="persian-arabic-letters"),
        pytest.param(FRENCH, "ou acheter un gateau a la creme", 3, id="french-without-accents"),
        pytest.param(FRENCH, unicodedata.normalize("NFD", "déménage"), 1, id="french-decomposed"),
        pytest.param(FRENCH, "HÔTEL", 0, id="french-capitals"),
        pytest.param(FRENCH, "soeur", 1, id="french-ligature"),
        pytest.param(GERMAN, "GOETHESTRASSE", 0, id="german-sharp-s"),
        pytest.param(GERMAN, "Munchen", 1, id="german-without-umlaut"),
        pytest.param(GERMAN, "Fussballspiel", 3, id="german-swiss"),
        pytest.param(TURKISH, "kadikoy", 0, id="turkish-without-dots"),
        pytest.param(TURKISH, "IZMIR", 1, id="turkish-capital-i"),
        pytest.param(TURKISH, "izmir", 1, id="turkish-small-i"),
        pytest.param(TURKISH, "ığdır", 3, id="turkish-dotless"),
        pytest.param(RUSSIAN, "брат переезжает в казань", 1, id="russian"),
        pytest.param(RUSSIAN, "елку", 3, id="russian-yo"),
        pytest.param(RUSSIAN, unicodedata.normalize("NFD", "кофейне"), 0, id="russian-decomposed"),
        pytest.param(GREEK, "ΓΙΑΤΡΟΣ", 2, id="greek-capitals-and-final-sigma"),
        pytest.param(GREEK, "θαλασσα", 3, id="greek-without-accents"),
        pytest.param(HINDI, "भाई मुंबई कब जा रहा है", 1, id="hindi"),
        pytest.param(HINDI, "हिन्दी", 3, id="hindi-virama"),
        pytest.param(HINDI, "रोज", 2, id="hindi-without-nukta"),
        pytest.param(EMOJI, "🍜", 0, id="emoji"),
        pytest.param(EMOJI, "where did we eat 🍜🍣?", 0, id="emoji-beside-another"),
        pytest.param(EMOJI, "👍", 2, id="emoji-without-skin-tone"),
        pytest.param(EMOJI, "👍🏿", 2, id="emoji-of-another-skin-tone"),
        pytest.param(EMOJI, "👩‍👩‍👧", 3, id="emoji-family"),
        pytest.param(EMOJI, "👧", 3, id="emoji-of-a-family"),
        pytest.param(EMOJI, "🇯🇵", 4, id="emoji-flag"),
        pytest.param(EMOJI, "🇯🇲", None, id="emoji-of-half-a-flag"),
        pytest.param(EMOJI, "❤", 5, id="emoji-as-text"),
        pytest.param(NUMBERS, "950", 0, id="fullwidth-digits"),
        pytest.param(NUMBERS, "42", 1, id="arabic-digits"),
        pytest.param(NUMBERS, "17", 2, id="devanagari-digits"),
        pytest.param(NUMBERS, "５５５", 3, id="asked-fullwidth"),
    ],
)
def test_the_right_sentence_comes_first(
    stores: Stores, sentences: Sequence[str], query: str, place: int | None
) -> None:
    """Of its language's sentences the one that was asked for, and none where no word is shared."""
    expected = None if place is None else sentences[place]
    assert best(stores(sentences), query) == expected


def test_all_languages_live_in_one_store(tmp_path: Path) -> None:
    """Each is found among all the others by words alone, and stored as it was typed."""
    every = (CHINESE, JAPANESE, KOREAN, THAI, ARABIC, HEBREW, PERSIAN, FRENCH, GERMAN, TURKISH, RUSSIAN, GREEK, HINDI)
    said = [sentence for sentences in every for sentence in sentences]
    store = open_store(tmp_path / "store")
    store.add(chat(said))
    assert [turn.text for turn in store.turns()] == said
    for sentence in said:
        assert best(store, sentence) == sentence
        assert best(store, unicodedata.normalize("NFD", sentence).upper()) == sentence
    assert store.verify() == []


@pytest.mark.parametrize("sentences", [KOREAN, RUSSIAN, GREEK, FRENCH])
def test_the_shipped_embedder_reads_other_scripts_too(tmp_path: Path, sentences: Sequence[str]) -> None:
    """A sentence asked for as it was said comes first by vectors."""
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    store.add(chat(sentences))
    assert [best(store, sentence, Ranking.DENSE) for sentence in sentences] == list(sentences)


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    """What is indexed and what is asked meet in one form, of any text at all."""
    folded = fold(text)
    assert fold(folded) == folded
    assert not set(spaced(folded)) & {letter for run in runs(folded) for letter in run if letter.isalpha()}


def test_plain_text_is_left_to_the_tokenizer() -> None:
    """English costs nothing."""
    assert fold("Don't PANIC") == "Don't PANIC"
    assert runs("Don't PANIC") == []
