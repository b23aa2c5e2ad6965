"""The language of a conversation and of a question; where it is in doubt, there is none."""

import json

import pytest

from goalmem_cli.languages.finding import asked_of, language_asked, language_of
from goalmem_cli.languages.names import NAMES, name_of
from goalmem_cli.languages.words import table
from tests.conftest import SAMPLES as SAMPLE_FILES
from tests.languages.samples import OTHER_SCRIPTS, SAMPLES, Sample


@pytest.mark.parametrize("sample", (*SAMPLES, *OTHER_SCRIPTS), ids=lambda sample: sample.language)
def test_a_conversation_has_a_language(sample: Sample) -> None:
    """It is found from the turns."""
    assert language_of(" ".join(turn.text for turn in sample.conversation().turns)) == sample.language


@pytest.mark.parametrize("text", ["", "ok", "Mimi", "👍 12:30", "https://example.org/der/die/das/und/nicht/wohnung"])
def test_a_text_of_too_few_words_has_none(text: str) -> None:
    """Nor has one of numbers, addresses and signs alone."""
    assert language_of(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Giovanni, Francesca, Alessandro, Giulia and Matteo. Chiara? Lorenzo? ok Giuseppe too",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O", "Lisbon, Porto, Coimbra, Braga, Faro, Evora, Sintra, Cascais, Setubal",
        "Flight AA123 JFK LAX, PNR XKJDLS, Gate B22, Seat 14C, Dep 0930", "HELLO TOM WHERE ARE YOU MOVED TO BOSTON RENT",
        "pasta carbonara, lasagne al forno, tiramisu, risotto, gnocchi, pesto, prosciutto crudo, panna cotta",
    ],
)  # fmt: skip
def test_an_english_chat_is_in_no_other_language(text: str) -> None:
    """Names, dishes, chess and capitals make fastText sure of one, but have none of its common words."""
    assert language_of(text) in ("", "en")


QUESTIONS = {
    "Wie hoch ist die Miete von Jonas?": "de", "Wo wohnt Käthe?": "de", "Was ist Jonas von Beruf?": "de",
    "Hat Jonas eine Katze?": "de", "¿Dónde vive Ana?": "es", "Où habite Luc ?": "fr",
    "Quel âge a le fils de Marie ?": "fr", "Onde mora a Ana?": "pt", "War Tante Gerti beim Fest dabei?": "de",
    "Geht Max ins Gymnasium?": "de", "¿Habla Pablo inglés?": "es", "Nadia habite-t-elle encore à Marseille ?": "fr",
    "Como se chama o cachorro de Jordana?": "pt", "A Rita já casou?": "pt", "WO WOHNT JONAS?": "de", "小雨搬到哪里了？": "zh",
    "Waar woont Jan?": "nl", "Heeft Jan een hond?": "nl", "Is de hond ziek?": "nl", "In che anno è nato Luca?": "it",
    "Do kogo dzwonił Marek?": "pl", "小雨？": "zh", "ユキはどこに住んでいますか？": "ja", "Quando la Giulia si è trasferita a Bologna?": "it", "Где живёт Маша?": "ru",
    "أين يعيش أحمد؟": "ar",
}  # fmt: skip


@pytest.mark.parametrize(("question", "language"), QUESTIONS.items())
def test_a_question_has_a_language(question: str, language: str) -> None:
    """However short it is, if its own words say so."""
    assert language_asked(question) == language


@pytest.mark.parametrize(
    "question",
    [
        "When did Maria move to Bremen?", "What did José order at Le Petit Café?", "Did Jürgen like São Paulo?",
        "Is Momoco a cafe?", "Was Jonas in Bremen?", "Kyoto Latte", "Rent of Jonas?", "hola", "danke", "ok lol",
        "Is Die Hard on?", "Does 小雨 live in Berlin?", "Name of Gretas Beruf", "...", "",
        "Los Angeles trip", "Les Mis tickets price", "San Francisco de Asis visit", "Au pair's name", "Anna die?",
        "El Paso or Los Angeles?", "Has Maria visited el Museo del Prado?", "Is Juan de la Cruz a vet?", "La Paz hotel name",
        "Dinner at Le Jardin de Provence?", "Is El Niño back?", "De Niro or Di Caprio?", "Was Das Kapital on his list?",
        'Translate "Wo wohnt Käthe?"', "Meaning of «où habite Luc»?", "Say 'me gusta la playa' in English",
        "Has Omar met Lea's brother?", "Has Tom met Mia?", "Was Pieter at Sanne's party?", "Is Marek over Noor?",
    ],
)  # fmt: skip
def test_english_and_what_is_in_doubt_is_not_taken_for_another_language(question: str) -> None:
    """Names of any language in it, and words that two languages have, are no evidence."""
    assert language_asked(question) in ("", "en")


@pytest.mark.parametrize(
    ("question", "spoken", "language"),
    [
        ("Sabe Ana nadar?", "es", "es"), ("Hugo sait nager ?", "fr", "fr"), ("O Tiago sabe nadar?", "en pt", "pt"),
        ("Quando volta o Tiago?", "pt", "pt"), ("東京在住者？", "ja", "ja"), ("東京在住者？", "ja zh", "zh"),
        ("Quando la Giulia si è trasferita a Bologna?", "pt", "it"), ("Onde mora a Ana?", "es", "pt"),
        ("Sabe Ana nadar?", "en", ""), ("Rent of Jonas?", "de", ""), ("Kyoto Latte", "de ja", ""), ("Bremen?", "de", ""),
        ("El Paso or Los Angeles?", "es", ""), ('Translate "Wo wohnt Käthe?"', "de", ""), ("Has Ana a cat?", "es", ""),
        ("Où dort Médor ?", "fr", "fr"), ("周航是哪一天搬到杭州的？", "ja", "zh"),
        ("Anna Berlin?", "de", ""), ("Hans drunk?", "de", ""), ("Abuela sick?", "es", ""), ("Mimi fat?", "it", ""),
        ("Texas barbecue?", "es", ""), ("Max dentist Hannover", "de fr", ""), ("Max Berlin marathon time", "nl", ""),
    ],
)  # fmt: skip
def test_a_question_in_doubt_is_in_a_language_of_what_it_is_asked_of(question: str, spoken: str, language: str) -> None:
    """If it is far likelier in that than in English. A question whose own words are sure keeps its language."""
    alone = language_asked(question)
    with asked_of({code: code for code in spoken.split()}):
        assert language_asked(question) == language
    assert language_asked(question) == alone


def test_no_question_of_the_samples_is_taken_for_another_language() -> None:
    """They are all English, also if they are asked of conversations in other languages."""
    asked = [
        case["question"]
        for file in sorted(SAMPLE_FILES.glob("*.json"))
        for sample in _listed(json.loads(file.read_text("utf-8")))
        for case in sample.get("qa", ())
    ]
    assert len(asked) > 10
    for spoken in ([], ["de", "fr"], ["es", "pt", "zh", "ja"]):
        with asked_of({code: code for code in spoken}):
            assert {question for question in asked if language_asked(question) not in ("", "en")} == set()


def _listed(content: object) -> list[dict[str, list[dict[str, str]]]]:
    found = content if isinstance(content, list) else [content]
    return [each for each in found if isinstance(each, dict)]


def test_each_language_of_the_table_has_a_name_and_each_list() -> None:
    """Words are told apart, so that none of them is empty or read as a boolean by YAML."""
    for code, words in table().items():
        assert name_of(code) in NAMES.values()
        assert all(
            words.lists[name] for name in ("person", "place", "time", "number", "other", "yes", "no", "i", "you")
        )
        assert not {"true", "false", ""} & {word for each in words.lists.values() for word in each}
    assert name_of("xx") == "xx"
