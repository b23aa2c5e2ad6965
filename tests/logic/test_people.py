"""Persons as values: what names one, and which types they cannot be of."""

import pytest

from goalmem_cli.logic.notation import parse_atom
from goalmem_cli.logic.people import is_only_named, unfit, who_is_meant, with_owners
from goalmem_cli.logic.questions import goal_asked, only_asks
from goalmem_cli.trace import Fact

PEOPLE = frozenset({"Nora", "Luis Ortega"})


def fact(text: str) -> Fact:
    """Return what Ana said to Ben."""
    return Fact("F1", "u1", ("t1",), "chat", "Ana", None, text, to="Ben")


def why(value: str, statement: str) -> str:
    """Return why the value does not fit the statement's only variable."""
    atom = parse_atom(statement)
    return unfit(value, atom.variables[0], atom, PEOPLE)


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("Mr. Okafor", "(Nora)'s cat is called (x:name)"),
        ("Mr. Okafor", "(Nora) has (x:cat)"),
        ("Luis", "the name of (Nora)'s parrot is (x:name)"),
        ("Luis", "(Deniz) is (x:relation) of (Nora)"),
        ("Carla's sister", "(Luis)'s sister lives in (x:city)"),
        ("my sister", "(Luis)'s sister lives in (x:place where she lives)"),
        ("Luis Ortega", "(Luis) built (x:things*)"),
    ],
)
def test_a_person_is_no_animal_no_relation_no_place_and_no_thing(value: str, statement: str) -> None:
    """Who talks, who has a title, and somebody's sister are persons, whatever the model takes them for."""
    assert value in why(value, statement)


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("Mr. Okafor", "(Nora)'s landlord is called (x:name)"),
        ("Mr. Okafor", "the man who fed (Nora)'s cat is called (x:name)"),
        ("Luis", "(x:person) feeds (Nora)'s cat"),
        ("Mocha", "(Nora)'s cat is called (x:name)"),
        ("sister", "(Deniz) is the (x:relation) of (Luis)"),
        ("Dr Pepper", "(Luis) ordered (x:drink)"),
        ("Luis's kitchen", "(Nora) cooked in (x:room)"),
        ("Leeds", "(Luis)'s sister lives in (x:city)"),
    ],
)
def test_everything_else_may_be(value: str, statement: str) -> None:
    """Persons are persons, drinks and rooms may be called after one, and a relation is told by its word."""
    assert why(value, statement) == ""


@pytest.mark.parametrize(
    "question", ["Which of Ana's nieces sings?", "Which friend lent it?", "Quel voisin l'a prêté à Ana ?"]
)
def test_a_person_may_be_which_is_asked_for(question: str) -> None:
    """A goal that is made of the question alone refuses no person, unless its type is a thing."""
    asked = goal_asked(question)
    assert all(unfit(value, asked.variables[0], asked, PEOPLE) == "" for value in ("Nora", "Carla's sister"))


def test_what_is_described_is_no_name_of_an_animal_or_relative() -> None:
    """Only a name says what a dog is called; one may well call a stranger "the little priest"."""
    assert why("the blue kayak", "the name of (Henrik)'s dog is (x:name)") == "the blue kayak is no name"
    assert why("a friend from work", "(Nora)'s sister is called (x:name)")
    assert why("miso", "(Nora)'s cat is called (x:name)") == ""
    assert why("the little priest", "(Luis) calls the new baker (x:name)") == ""


def test_who_somebody_is_is_not_told_by_the_name_of_one_who_talks() -> None:
    """ "Who is Deniz?" wants what she is to somebody; "Who is Nora's landlord?" wants a name."""
    assert is_only_named("Luis", "Who is Deniz?", PEOPLE) and is_only_named("Nora", "who's Mr. Okafor?", PEOPLE)
    assert not is_only_named("Luis's brother", "Who is Deniz?", PEOPLE)
    assert not is_only_named("Luis", "Who is Nora's landlord?", PEOPLE)
    assert not is_only_named("Luis", "Who is the owner?", PEOPLE)


@pytest.mark.parametrize(
    ("value", "meant"),
    [("I", "Ana"), ("me.", "Ana"), ("I did", "Ana"), ("you", "Ben"), ("a mine", "a mine"), ("Ida", "Ida")],
)
def test_pronoun_is_a_person(value: str, meant: str) -> None:
    """ "I" is who says it, and "you" is who it is said to."""
    assert who_is_meant(value, fact("I sold it to you.")) == meant


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("Who drives on Sunday?", True),
        ("Hey, is anybody there? What about Monday?", True),
        ("Just finished the marathon, can you believe that?", False),
        ("Painted this last week, what do you think?", False),
        ("Did you know that I keep hens?", False),
        ("Who drives on Sunday? The bus is late.", False),
    ],
)
def test_whoever_only_asks_tells_nothing(text: str, *, only: bool) -> None:
    """What is told before a question, or of oneself in one, is told."""
    assert only_asks(text) is only


def told(line: str) -> Fact:
    """Return a fact: "speaker", "speaker > hearer", or "who spoke before / speaker", then a colon and the text."""
    who, text = line.split(": ", 1)
    before, _, who = who.rpartition(" / ")
    speaker, _, to = who.partition(" > ")
    earlier = ((before, "It is full."),) if before else ()
    return Fact("F1", "u1", ("t1",), "chat", speaker, None, text, before=earlier, to=to)


@pytest.mark.parametrize(
    ("asker", "answer", "fact", "named"),
    [
        (None, "my garage", "Mira: The tent is in my garage, behind the bikes.", "Mira's garage"),
        ("Mira", "my garage", "Mira: The tent is in my garage, behind the bikes.", "your garage"),
        ("Zoe", "my garage", "Mira: The tent is in my garage, behind the bikes.", "Mira's garage"),
        (None, "your solo", "Mira / Pavel: Your solo is on page nine, I copied it.", "Mira's solo"),
        (None, "Your solo", "Pavel > Mira: Your solo is on page nine.", "Mira's solo"),
        (None, "my brother", "Ines: My brother lent us the drill.", "Ines's brother"),
        (None, "our daughter", "Tom > Lea: Our daughter will drive.", "Tom's daughter"),
        (None, "my old bike", "Ana > Ben: Thanks for fixing my old bike!", "Ana's old bike"),
        ("Ana", "my old bike", "Ana > Ben: Thanks for fixing my old bike!", "your old bike"),
        ("Ben", "your ladder", "Ana > Ben: I borrowed your ladder again.", "your ladder"),
        ("user", "your desk", "assistant > user: You told me it is in your desk.", "your desk"),
        (None, "your ladder", "Ana > Ben: I borrowed your ladder again.", "Ben's ladder"),
        ("Ana", "your ladder", "Ana > Ben: I borrowed your ladder again.", "Ben's ladder"),
        (None, "my kayak and my paddle", "Noor: My kayak and my paddle are in the shed.", "Noor's kayak and Noor's paddle", ),
        (None, "my turn", "Ana: It is my turn to cook.", "Ana's turn"),
        (None, "my mum's place", "Ana: The dog is at my mum's place.", "Ana's mum's place"),
        (None, "your sister", "Ben / Ana: Yes, your sister sings the alto part.", "Ben's sister"),
        (None, "my birthday, 3 May", "Ana: The party is on my birthday, 3 May.", "Ana's birthday, 3 May"),
        ("user", "my desk", "user > assistant: I keep it in my desk.", "your desk"),
        (None, "your sofa", "Ana > Ben: Can I sleep on your sofa?", "Ben's sofa"),
        (None, "our cat", "Ana > Ben: The vet treated our cat.", "Ana's cat"),
        (None, "My boss", "Ana > Ben: My boss paid.", "Ana's boss"),
        (None, "My Mum", "Ana > Ben: My Mum came along.", "Ana's Mum"),
        (None, "Jo, my neighbour", "Ana > Ben: Jo, my neighbour, helped.", "Jo, Ana's neighbour"),
        ("Ana Silva", "my oven", "Ana > Ben: The bread is in my oven.", "your oven"),
        ("Ana", "my oven", "Ana Silva > Ben: The bread is in my oven.", "your oven"),
        (None, "my shed", "You > Ben: It is in my shed.", "my shed"),
        (None, "my shed", "Claude > Ben: It is in my shed.", "Claude's shed"),
        (None, "your dog", "Ana > Ben: And your dog is fine.", "Ben's dog"),
        ("-", "my oven", "Ana > Ben: The bread is in my oven.", "Ana's oven"),
        ("Lea", "our house", "Tom > Lea: The cat stays in our house.", "our house"),
        ("Tom", "our house", "Tom > Lea: The cat stays in our house.", "your house"),
        (None, "our cat Momo", "Tom > Lea: It was our cat Momo.", "Tom's cat Momo"),
        (None, "my best friend", "Ana > Ben: I took my best friend.", "Ana's best friend"),
        (None, "sister", "Lou > Ben: My sister drives the van.", "Lou's sister"),
        ("Lou", "sister", "Lou > Ben: My sister drives the van.", "your sister"),
        ("Ben", "brother's workshop", "Lou > Ben: It is in my brother's workshop.", "Lou's brother's workshop"),
        (None, "friend Max", "Lou: I went with my friend Max.", "Lou's friend Max"),
        (None, "Mum", "Lou: Mum drives the van.", "Mum"), (None, "mum", "Lou: My mum called. Mum is fine.", "mum"),
        (None, "sister", "Lou: His sister drives.", "sister"), (None, "sister", "user: My sister drives.", "sister"),
    ],
)  # fmt: skip
def test_my_and_your_become_names(asker: str | None, answer: str, fact: str, named: str) -> None:
    """The reader of an answer is not who said it, unless it is the asker; "you" is who is spoken to."""
    assert with_owners(answer, [told(fact)], "What is it?", asker) == named


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("Where do we meet?", "our clubhouse", ["Tom: We meet at our clubhouse at six."]),
        ("Which musical do they rehearse?", "My Fair Lady", ["Ana: We rehearse My Fair Lady on Monday."]),
        ("What do they rehearse?", "My Fair Lady", ["Ana: We rehearse My Fair Lady on Monday."]),
        ("What opens the concert?", "Your Song", ["Ben / Ana: Your Song opens the concert."]),
        ("Which song opens the concert?", "your song", ["Ben / Ana: We open with your song."]),
        ("Why was Mira late?", "I missed my train", ["Mira: Sorry, I missed my train."]),
        ("How did Mira travel?", "on my own", ["Mira: I went on my own."]),
        ("What should everyone bring?", "your own mug", ["Mira / Zoe: At ten, bring your own mug."]),
        ("What should Kim pack?", "your boots", ["Kim / Zoe: Muddy. Pack your boots."]),
        ("Where does the cable go?", "your drawer", ["Zoe: It goes in your drawer."]),
        ("Wo ist das Zelt?", "my garage", ["Mira: Das Zelt ist in my garage."]),
        ("What did Lea say was lost?", "my keys", ['Tom: Lea wrote: "my keys are gone".']),
        ("What is gone?", "my keys", ['Tom: Lea wrote "my keys are gone".']),
        ("What is gone?", "my keys", ["Tom: Lea wrote: my keys are gone."]),
        ("Where is the passport?", "my desk", ["user > assistant: I keep it in my desk."]),
        ("What colour is the van?", "blue", ["Ana: My van is blue."]),
        ("What is the password?", "my little pony", ["Ana: The password is my little pony."]),
        ("What did Ana's note say?", "my hero", ["Ana: I wrote my hero on it."]),
        ("Where is the meeting?", "your office", ["Ben / Ana: Everyone, it is in your office."]),
        ("Where did they find it?", "my God, the cellar", ["Ana > Ben: my God, the cellar!"]),
        ("Where is it?", "my garage", ["Ana: It is in my garage.", "Ben: No, it is in my garage."]),
        ("Where is it?", "my garage", ["Ana: It is in the garage."]), ("Where is it?", "my garage", []),
        ("Wo ist es?", "my garage", ["Ana: It is in my garage."]),
        ("What do visitors need?", "your passport", ["Ana > Ben: You just need your passport."]),
        ("What do you need to enter?", "your passport", ["Ana > Ben: You just need your passport."]),
        ("What helps?", "stretch your legs", ["Ana > Ben: If you get cramps, stretch your legs."]),
        ("What is needed?", "your passport", ["Ana > Ben: You just need your passport."]),
        ("What should Ben pack?", "your boots", ["Ana > Ben: Muddy. Pack your boots."]),
        ("How does one log in?", "with your password", ["Ana > Ben: I log in with your password."]),
        ("What does yoga improve?", "your posture", ["Ana > Ben: Yoga improves your posture."]),
        ("What did they watch?", "My Cousin Vinny", ["Ana: On Friday we watched My Cousin Vinny."]),
        ("What did they watch?", "My Sister, My Love", ["Ana: Tonight: My Sister, My Love on TV."]),
        ("Where is it?", "our home page", ["Tom > Zoe: See our home page."]),
        ("Where is it?", "in our house style guide", ["Tom > Zoe: It is in our house style guide."]),
        ("How was it?", "in my opinion, dull", ["Ana > Ben: It was, in my opinion, dull."]),
        ("Who won?", "to my surprise, Ben", ["Ana > Cy: To my surprise, Ben. Yes, to my surprise, Ben."]),
        ("What did Ana do?", "changed my mind", ["Ana > Ben: I changed my mind."]),
        ("What did Ana do?", "did my best at the race", ["Ana > Ben: I did my best at the race."]),
        ("What is it?", "my precious", ["Ana > Ben: I call it my precious."]),
        ("Who is Mia to Lou?", "sister", ["Lou > Ben: Mia is my sister."]),
        ("Which sister drives?", "sister Ana", ["Lou > Ben: My sister Ana drives."]),
        ("Who drives?", "sister", ["Lou > Ben: My sister drives.", "Ben > Lou: My sister drives too."]),
    ],
)  # fmt: skip
def test_other_words_stay(question: str, answer: str, facts: list[str]) -> None:
    """Titles, quotes, sayings, whole statements, what is said to all or by two, what no fact says, other languages."""
    assert with_owners(answer, list(map(told, facts)), question, None) == answer
