"""Now takes the later statement of a thing that has one value at a time, and shows the earlier as replaced."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from goalmem_cli.backbones.catalogue import BACKBONES
from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.now.asked import asked_in
from goalmem_cli.backbones.now.holding import Holding
from goalmem_cli.backbones.now.states import states_in
from goalmem_cli.backbones.whole_scope import NAME, WholeScope
from goalmem_cli.logic.annotations import annotations_of
from goalmem_cli.records import SPEAKER_ID, Query, Turn
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder

LEEDS, YORK = "We moved to Leeds in February.", "Back to York since June."
CHATTER = ("The bus was late.", "Did you see the match?", "I burnt the soup again.")


def stored(folder: Path, *said: str, name: str = "talk") -> Store:
    """Return a store of one conversation: lines "Ana: ..." a month apart, each with its replies, chatter between."""
    turns: list[Turn] = []
    for month, told in enumerate(said, 1):
        lines = [line.split(": ", 1) for line in told.splitlines()]
        for day, (speaker, text) in enumerate((*lines, *((lines[-1][0], each) for each in CHATTER)), 1):
            when = datetime(2026, month, day, 10)
            turns.append(Turn(name, month, len(turns), speaker, text, when, own_id=f"{month}:{day}"))
    store = Store(folder / name, HashEmbedder(), announce=lambda _: None)
    store.add_turns(turns)
    return store


def text_of(line: str) -> str:
    """Return what is said in a line."""
    return line.split(": ", 1)[1]


def found(store: Store, question: str, **filters: object) -> tuple[list[str], dict[str, str]]:
    """Return the texts of the hits without the chatter, and by text what replaces it."""
    query = Query(question, **filters)  # type: ignore[arg-type]
    hits = [hit for hit in Holding(FlatBackbone(store), store).retrieve(query, 20) if hit.unit.text not in CHATTER]
    return [hit.unit.text for hit in hits], {hit.unit.text: hit.moved_on.text for hit in hits if hit.moved_on}


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ana live?",
        "Where does Ana live now?",
        "Which city does Ana currently live in?",
        "Is Ana still living in Leeds?",
        "Is Ana still in Leeds?",
        "Ana lives in city",
    ],
)
def test_the_present_takes_the_later_statement(tmp_path: Path, question: str) -> None:
    """In each wording; the earlier one is shown as replaced by it."""
    assert found(stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}"), question) == ([YORK, LEEDS], {LEEDS: YORK})


@pytest.mark.parametrize(
    "question", ["Where did Ana live in March?", "Where has Ana lived?", "When did Ana move?", "Where will Ana live?"]
)
def test_a_question_about_another_time_changes_nothing(tmp_path: Path, question: str) -> None:
    """Neither the order nor the marks, and not where a plan's step for it is in the present."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    for query in (Query(question), Query("Ana lives in city", question=question)):
        assert Holding(FlatBackbone(store), store).retrieve(query, 10) == FlatBackbone(store).retrieve(query, 10)


def test_what_was_so_until_then_holds_then(tmp_path: Path) -> None:
    """As of a time, later turns do not count."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    assert found(store, "Where does Ana live?", until=datetime(2026, 1, 28)) == ([LEEDS], {})


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("Who does Hugo work for?", "I work at the mill.", "Started at Osprey on Monday."),
        ("Where does Hugo's brother live?", "My brother lives in Graz.", "My brother has moved to Linz."),
        ("How much rent does Hugo pay?", "My rent is 640 a month.", "They put the rent up, it's 715 from now on."),
        ("Who is Hugo's dentist?", "My dentist is Dr Walsh.", "My new dentist is Dr Okafor."),
        ("What is the gate code?", "The gate code is 4471.", "gate code changed, 9023 now"),
        ("On which day does our club meet?", "Our club meets on Tuesdays.", "The club has moved to Thursdays."),
        ("What colour is Hugo's boat?", "I painted the boat red.", "The boat is green now."),
        ("What does Hugo play?", "I play the oboe.", "I switched, the cello is what I play."),
        ("What does Hugo like best to eat?", "I like plums best to eat.", "I like figs best to eat."),
        ("Who is Hugo's dentist?", "My dentist is Dr Walsh.", "I switched dentists, mine is Dr Okafor now."),
        ("Who is Hugo's boyfriend?", "My boyfriend is called Dan.", "We split up, my boyfriend is Felix now."),
        ("Where does Hugo live?", "We live in Porto.", "I left Porto, Braga is home now."),
        ("Where does Hugo work?", "I work at the mill.", "I got a new job at the garage."),
        ("Does Hugo still work at the mill?", "I work at the mill.", "I do not work at the mill any more."),
    ],
)
def test_whatever_has_one_value_at_a_time(tmp_path: Path, question: str, earlier: str, later: str) -> None:
    """Told as a change, as a correction, or as it is now."""
    texts, marks = found(stored(tmp_path, f"Hugo: {earlier}", f"Hugo: {later}"), question)
    assert (texts[0], marks) == (later, {earlier: later})


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("What is the alarm code?", "Ana: What's the alarm code again?\nBen: 7719.", "Ben: I changed the alarm code, it is 4402 now."),
        ("What is the Netflix password?", "Ana: Netflix password?\nBen: bluefish22", "Ana: I reset the Netflix password to orangefox31."),
        ("What is the combination of the bike lock?", "Ana: What's the combination of the bike lock?\nBen: It's 528.", "Ben: The bike lock's combination is 903 now."),
        ("What is the router password?", "Ana: The router's password is tulip88.", "Ben: I had to change the router password. It's daisy41 now."),
        ("Where is the torch?", "Ana: Where do you keep the torch?\nBen: In the drawer by the door.", "Ben: The torch is in the car now."),
        ("Where is the shed key?", "Ana: The shed key hangs by the back door.", "Ana: The shed key moved too, it's under the blue pot."),
        ("Where do we keep the ladder?", "Ana: The ladder is in the garage.", "Ben: I've moved the ladder to the cellar."),
        ("Where are the passports?", "Ana: The passports are in the top drawer of the desk.", "Ana: I put the passports in the safe."),
        ("Who has the spare key?", "Ana: The spare key is with Mrs Lund next door.", "Ana: Tom has the spare key now."),
        ("Where does the book club meet?", "Ana: Book club meets at Lotte's place.", "Ana: Book club meets at the library these days."),
        ("What is Ana's phone number?", "Ana: My phone number is 0171 5550132.", "Ana: I have a new phone number, 0160 5550871."),
        ("What is Ana's email address?", "Ana: My email is ana@old.example.", "Ana: Please use my new email, ana@new.example."),
        ("What is the plate of Ana's car?", "Ana: The car's plate is HH AB 1204.", "Ana: New car, new plate: HH KL 77."),
        ("When is choir?", "Ana: Choir is on Tuesdays at seven.", "Ana: Choir has been moved to Thursdays at eight."),
        ("When does Ben's shift start?", "Ben: My shift starts at six.", "Ben: They moved my shift, it starts at two in the afternoon now."),
        ("Which dentist does Ana go to now?", "Ana: My dentist is Dr Keller.", "Ana: I switched to a new dentist, Dr Obi."),
        ("Who is Mia's piano teacher?", "Ana: Mia's piano teacher is Mr Voss.", "Ana: Mia has a new piano teacher, Ms Ito."),
        ("Where is the drill?", "Ana: Where did you put the drill?\nBen: It's on the shelf above the sink.", "Ana: I lent the drill to Henrik."),
        ("What is the landlord's number?", "Ana: Our landlord's number is 040 22 11.", "Ana: The landlord's number has changed to 040 71 12."),
        ("What time does the nursery close?", "Ana: What time does the nursery close?\nBen: At five.", "Ben: The nursery closes at four from now on."),
        ("How much does Ben earn?", "Ben: I earn 3,100 a month.", "Ben: I got a raise, I earn 3,400 a month now."),
        ("What is Ana's phone number?", "Ana: My number is 0770 112.", "Ana: New phone, my number is 0770 845 now."),
        ("What is the name of Ana's dog walker?", "Ana: My dog walker is Priya Nair.", "Ana: We have a new dog walker, Ellis Boyd."),
        ("Which school does Ana's son go to?", "Ana: My son goes to Elm School.", "Ana: My son goes to Park School now."),
        ("What colour is the front door?", "Ana: The front door is blue.", "Ana: Painted the front door, it's yellow now."),
        ("On which day is the market?", "Ana: The market is on Thursdays.", "Ana: The market moves to Saturdays from now on."),
        ("Where is the drill?", "Ana: The drill is in the cellar.", "Ana: I used the drill at the flat. It's in the boot now."),
        ("What is the name of my dog?", "Ana: My dog is Rex.", "Ana: My dog's name is Bo."),
        ("When is the Christmas concert?", "Ana: The Christmas concert is on the 12th of December.", "Ben: The concert is now on the 19th."),
        ("When is the school play?", "Ana: The school play is on Friday the 8th of May.", "Ben: The school play has been postponed to the 15th."),
        ("When is the inspection?", "Ana: The inspection is on the 21st.", "Ana: The inspection was brought forward to the 18th."),
        ("When does choir start?", "Ana: Choir starts at seven.", "Ben: Choir starts at half past seven now."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: The concert is now on Friday the 19th."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: The concert was moved to Saturday."),
        ("On which day is the market?", "Ana: The market is on Thursdays until noon.", "Ana: The market is on Saturdays until one now."),
        ("When is the meeting?", "Ana: The meeting is on Tuesday at nine.", "Ana: The meeting is on Wednesday over Zoom now."),
        ("When is the exam?", "Ana: The exam is on the 4th.", "Ana: They postponed the exam to the 9th."),
        ("Where is the PA key?", "Ana: I left the PA key with Ben's neighbour.", "Ana: I picked the PA key up again, it's in my van."),
        ("How much rent does Ana pay?", "Ana: My rent is 600.", "Ana: I pay 50 for heating and 640 for rent."),
        ("How much rent does Ana pay?", "Ana: My rent is 600.", "Ana: We pay 80 plus 640 for the rent."),
        ("What time does the library open?", "Ana: The library opens at 9.", "Ana: The library currently opens at 10."),
        ("What time does the library open?", "Ana: The library opens at 9.", "Ana: The library still opens at 10."),
        ("What time does the library open?", "Ana: The library opens at 9.", "Ana: The library just opens at 10."),
        ("How much is the gym?", "Ana: The gym costs 30.", "Ana: The gym still costs 40."),
        ("How much is the gym?", "Ana: The gym costs 30.", "Ana: The gym dues are 40 now."),
        ("How much is the rent?", "Ana: The rent is 600.", "Ana: The rent total is 640."),
        ("How much is the rent?", "Ana: The rent is 600.", "Ana: The rent amount is 640 now."),
        ("What colour is Ana's car?", "Ana: My car is blue.", "Ana: My car is red, it's next to a blue van."),
        ("What colour is the kitchen?", "Ana: The kitchen is green.", "Ana: The kitchen is blue, it's not green."),
        ("What colour is the kitchen?", "Ana: The kitchen is white.", "Ana: The kitchen is no longer white, it's green."),
        ("How much is Ana's rent?", "Ana: My rent is 640.", "Ana: I got the bill for my rent at the end of the month. It's 700."),
        ("When is choir?", "Ana: Choir is on Tuesdays.", "Ana: I go to choir with my sister. It's on Thursday."),
        ("Where is the spare key?", "Ana: The spare key is in the hall.", "Ana: I looked for the spare key with my sister. It's in the drawer."),
        ("How much are the dues now?", "Ana: The dues are 40 euros a quarter.", "Ana: From now on the dues are 45."),
        ("How much is the cabin a night?", "Ana: The cabin is 90 a night.", "Ana: They put the cabin up: 98 a night now."),
        ("Who has the key?", "Ines: I took the key.", "Ines: I gave the key to Dov."),
        ("Who has the key now?", "Ana: Ines takes the key.", "Ana: Ines gave the key to Dov."),
        ("Who has the tent?", "Ben: I've got the tent.", "Ana: Ben handed me the tent."),
        ("Who has the projector?", "Ana: Lukas has the projector.", "Lukas: The projector is back at the office."),
        ("Who has the stove now?", "Ana: I lent the stove to Priya.", "Ana: Priya gave the stove back."),
        ("Who has the spare key?", "Ana: The spare key is in the drawer.", "Ana: I gave my sister the spare key."),
        ("Who has the drill?", "Ana: Henrik has the drill.", "Ana: I got the drill back from Henrik."),
        ("Who has the drill?", "Ana: I lent the drill to Henrik.", "Henrik: I gave the drill back to Ana."),
        ("Does Ines still have the key?", "Ana: Ines has the key.", "Ana: The key was given to Dov."),
        ("Who has the tickets?", "Ana: I have the tickets.", "Ana: I picked up the tickets and gave them to Lea."),
        ("Who's got the folder?", "Ana: Dov's got the folder.", "Mia: I've got the folder now."),
        ("Who looks after the cat?", "Ana: Tom looks after the cat.", "Ana: Jana looks after the cat now."),
        ("Who takes the kids to school?", "Ana: Tom takes the kids to school.", "Ana: Jana takes the kids to school now."),
        ("Who is coaching the team?", "Ana: Mr Voss is coaching the team.", "Ana: Ms Ito is coaching the team now."),
        ("Who walks the dog?", "Ana: I walk the dog.", "Ana: My brother walks the dog now."),
        ("How much pocket money does Mia get?", "Ana: Mia gets 10 euros pocket money.", "Ana: Mia gets 15 euros pocket money now."),
        ("Which room is the meeting in?", "Ana: The meeting is in room 204.", "Ana: The meeting is in room 310 now."),
    ],
)  # fmt: skip
def test_a_household_has_one_of_each(tmp_path: Path, question: str, earlier: str, later: str) -> None:
    """Codes, places, prices, appointments, people whom one goes to, who has a thing or does a task; told by anybody."""
    marks = found(stored(tmp_path, earlier, later), question)[1]
    assert marks == {text_of(earlier.splitlines()[-1]): text_of(later)}


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("Who has the key?", "Ana: Ines has the key.", "Ines: I have the key."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov doesn't have the key."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: I never gave the key to Dov."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: If I gave the key to Dov, he'd lose it."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov has the key to his own flat."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov had the key last year."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Everybody has the key."),
        ("Who has the spare key?", "Ana: Ines has the spare key.", "Ana: Dov took the car key."),
        ("Where is the car?", "Ana: The car is in the garage.", "Ana: I took the car this morning."),
        ("Who has the ladder?", "Ana: Tom has the ladder.", "Ben: Did Tom give the ladder to Jana?"),
        ("Who looks after the cat?", "Ana: Tom looks after the cat.", "Ana: Jana looks after the cat on Sundays."),
        ("Who looks after the cat?", "Ana: Tom looks after the cat.", "Ana: Jana looked after the cat in May."),
        ("Who looks after the cat?", "Ana: Tom looks after the cat.", "Ana: Tom looks after the cat now."),
        ("Who runs the book club?", "Ana: Lotte runs the book club.", "Ana: Jo runs the film club now."),
        ("Who's the captain?", "Ana: Lena is the captain.", "Ana: The captain is on the bus now."),
        ("Who has the key?", "Ana: Dov has the key.", "Ana: Dov has the key and I gave the drill back."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov took the car key, Ines has the key."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: I think Dov has the key."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Maybe Dov has the key."),
        ("Who has the flu?", "Ana: Ines has the flu.", "Ana: Dov has the flu now."),
        ("Who has the new phone?", "Ana: Ines has the new phone.", "Ana: Dov has the new phone now."),
        ("Who has the camera?", "Ana: Tom has the camera.", "Ana: Jana took the camera apart."),
        ("Who has the dog?", "Ana: Tom has the dog.", "Ana: Jana took the dog for a walk."),
        ("Who took the key?", "Ana: Ines took the key.", "Ana: Dov took the key."),
        ("Who looks after the cat?", "Ana: Tom looks after the cat.", "Ana: Jana looks after the cat instead this week."),
        ("Who cleans the flat?", "Ana: Tom cleans the flat.", "Ana: Jana cleans the flat downstairs now."),
        ("What do we get for dinner?", "Ana: We get 2 pizzas for dinner.", "Ana: We get 3 salads for dinner."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: Henrik's rent is 700."),
        ("What colour is the boat?", "Ana: The boat is blue.", "Ana: I painted the boat. I gave it a red stripe."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: Ben pays 700 rent now."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: My parents moved to Linz."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: Next year we move to Linz."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: We would love to live in Linz."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: I lived in Linz as a child."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: Tom says he lives in Linz now."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: We live in Lend, Graz."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: Should I live in Linz?"),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: I also work at the kiosk."),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: I work at night."),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: I work with Ben now."),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: From May I work at the garage."),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: I joined Ben for lunch."),
        ("Where does Ana work?", "Ana: I work at the mill.", "Ana: In the novel I work at the Kremlin now."),
        ("Where does Ana live?", "Ana: I live in Graz.", "Ana: Her note: 'We live in Linz now, send it there.'"),
        ("What does Ana play?", "Ana: I play the oboe.", "Ana: I play the cello."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: I pay 30 for the gym now."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: The rent is due on Friday 4."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: The rent went up by 20."),
        ("Who is Ana's dentist?", "Ana: My dentist is Dr Walsh.", "Ana: My old dentist is Dr Okafor."),
        ("Who is Ana's dentist?", "Ana: My dentist is Dr Walsh.", "Ana: My dentist is in Okafor Street."),
        ("Who is Ana's dentist?", "Ana: My dentist is Dr Walsh.", "Ana: My son's dentist is Dr Okafor."),
        ("Who is Ana's landlord?", "Ana: My landlord is Mr Pike.", "Ana: My landlord is Irish."),
        ("What is the wifi password?", "Ana: The wifi password is otter22.", "Ana: The wifi password at work is zebra9."),
        ("Where does Ana live?", "Ana: I live in Hull.", "Ana: We moved to Slack."),
        ("Where does Ana live?", "Ana: I live in Hull.", "Ana: We moved to Postgres last week."),
        ("Where does Ana live?", "Ana: I live in Hull.", "Ana: We moved to ClickHouse."),
        ("Where does Ana live?", "Ana: I live in Hull.", "Ana: I moved to Marketing."),
        ("What is the alarm code?", "Ana: The alarm code is 7719.", "Ana: The gate code is 4402 now."),
        ("What is the alarm code?", "Ana: The alarm code is 2211.", "Ben: What's the alarm code?\nAna: No idea, sorry."),
        ("What is the alarm code?", "Ana: The alarm code is 2211.", "Ana: At work the alarm code is 9000 now."),
        ("What is the wifi password?", "Ana: The wifi password is heron-9.", "Ben: Is the wifi password maple-4 now?"),
        ("Where is the shed key?", "Ana: The shed key hangs by the back door.", "Ana: The car key is in the bowl now."),
        ("What is the alarm code?", "Ana: The alarm code is 7719.", "Ana: Don't forget the alarm code, it's raining."),
        ("What is the alarm code?", "Ana: The alarm code is 7719.", "Ana: The alarm code is annoying."),
        ("How much is the rent?", "Ana: The rent is 900.", "Ana: The rent is due. It's 30 degrees today."),
        ("What is the wifi password?", "Ana: The wifi password is abc-123.", "Ana: The guest wifi password is xyz-789 now."),
        ("What is Ana's phone number?", "Ana: My phone number is 0171 55.", "Ana: The plumber's phone number is 0170 99."),
        ("Where is the drill?", "Ana: The drill is in the cellar.", "Ana: The drill bits are in the kitchen drawer."),
        ("What time does the nursery close?", "Ana: The nursery closes at five.", "Ana: The nursery opens at eight now."),
        ("Where is the piano?", "Ana: The piano is in the hall.", "Ana: The piano is in a terrible state."),
        ("Where is Ana's bike?", "Ana: My bike is in the shed.", "Ben: My bike is in the hall now."),
        ("Who has the spare key?", "Ana: The spare key is with Mrs Lund.", "Ana: Tom also has a spare key."),
        ("When is choir?", "Ana: Choir is on Tuesdays at seven.", "Ana: This week choir is on Friday."),
        ("When is choir?", "Ana: Choir is on Tuesdays at seven.", "Ana: They might move choir to Thursdays."),
        ("What is Ana's phone number?", "Ana: My phone number is 0171 55.", "Ben: My phone number is 0160 87 now."),
        ("How much is the rent?", "Ana: The rent is 900 euros.", "Ana: Back in Leeds the rent was 700 euros."),
        ("When is choir?", "Ana: Choir is on Tuesdays at seven.", "Ana: The choir concert is on Friday."),
        ("When is yoga?", "Ana: Yoga is on Mondays.", "Ana: I bought a yoga mat on Friday."),
        ("When is choir?", "Ana: Choir is on Tuesdays.", "Ana: I love choir. The concert is great, it's on Friday."),
        ("Where is the charger?", "Ana: The charger is in the hall.", "Ana: I broke the charger. That's on me."),
        ("Where is the router?", "Ana: The router is in the hall.", "Ana: The router is on its last legs."),
        ("Where is Ana's phone?", "Ana: My phone is in the car.", "Ana: My phone is at 5%."),
        ("What is the alarm code?", "Ana: The alarm code is 7719.", "Ben: When did you set the alarm code?\nAna: 2019."),
        ("How much is the rent?", "Ana: The rent is 640 euros.", "Ben: When is the rent due?\nAna: 3"),
        ("How much is the rent?", "Ana: The rent is 640.", "Ana: The deposit is 900."),
        ("How much is the rent?", "Ana: The rent is 640.", "Ana: I paid the rent and 85 for the water."),
        ("How much is the gym?", "Ana: The gym is 30 a month.", "Ana: The gym shoes are 95."),
        ("Where is the charger?", "Ana: The charger is in the hall.", "Ana: I need the charger for the trip. It's in Rome."),
        ("What is the code for the bike shed?", "Ana: The bike shed code is 1188.", "Ana: The code for the laundry is 2471 now."),
        ("What is Ana's phone number?", "Ana: My number is 0170 55.", "Ana: The taxi number is 0170 99 now."),
        ("What time does the pool open?", "Ana: The pool opens at 9.", "Ana: The pool cafe opens at 11."),
        ("What is the name of my dog?", "Ana: My dog is Rex.", "Ana: My dog is sick."),
        ("What is the name of my dog?", "Ana: My dog is Rex.", "Ana: My dog is a Labrador."),
        ("What is the name of my dog?", "Ana: My dog is Rex.", "Ana: My dog's trainer is Jim."),
        ("What is the name of Ana's dog?", "Ana: My dog's name is Rex.", "Ana: My dog is Rex."),
        ("What is the name of Ana's boss?", "Ana: My boss is Kim Lee.", "Ana: My boss is angry."),
        ("What is the name of the wifi network?", "Ana: The wifi network is Fritz7.", "Ana: The wifi network is down."),
        ("How much rent does Ana pay?", "Ana: My rent is 640.", "Ana: I pay 50 for heating and 640 for my monthly rent."),
        ("What is Ana's phone number?", "Ana: My phone number is 0301 5550.", "Ana: My number plate is AB12 CDE."),
        ("What is Ana's phone number?", "Ana: My phone number is 0301 5550.", "Ana: My number plate is AB12 CDE now."),
        ("What is Ana's phone number?", "Ana: My phone number is 0301 5550.", "Ana: My number one song is Halo 22."),
        ("What is Ana's phone number?", "Ana: My phone number is 0301 5550.", "Ana: Our number is 12."),
        ("What time does the library open?", "Ana: The library opens at 9.", "Ana: The library assembly is at 11."),
        ("What colour is Ana's car?", "Ana: My car is red.", "Ana: My car is red, it's next to a blue van."),
        ("Where are the passports?", "Ana: The passports are in the safe.", "Ana: I left the passports with my parents. They're in Rome."),
        ("Where is the spare key?", "Ana: The spare key is in the hall.", "Ana: I need the spare key for my sister's car. It's in the garage."),
        ("Which dentist does my sister go to? (Ana)", "Ana: My dentist is Dr Walsh.", "Ana: My dentist is Dr Obi."),
        ("When is choir?", "Ana: Choir is on Tuesdays.", "Ana: Choir is at eight now."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: The concert is on the 2nd floor now."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: I hear the concert for the 3rd time now."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: Tickets for the concert are now sold until the 10th."),
        ("When does choir start?", "Ana: Choir starts at seven.", "Ana: Choir is over at half past eight now."),
        ("When is the concert?", "Ana: The concert is in December.", "Ana: The concert is on the 12th."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: Rehearsal for the concert is on the 19th now."),
        ("When is the concert?", "Ana: The concert is on the 12th of December.", "Ana: I now have to work on the 19th, after the concert."),
        ("When does choir start?", "Ana: Choir starts at nine.", "Ana: Choir starts at quarter past nine now."),
        ("Who walks the dog?", "Ana: Tom walks the dog.", "Ana: Tom and Jana walk the dog now."),
        ("Who walks the dog?", "Ana: Tom walks the dog.", "Ana: Jana walks the dog now and then."),
        ("Who feeds the cat?", "Ana: Tom feeds the cat.", "Ana: Jana feeds the cat, it has a new bowl."),
        ("Who cooks the dinner?", "Ana: Tom cooks the dinner.", "Ana: Jana is cooking the dinner now, come over."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: When we were kids, Dov took the key."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: I remember that Dov took the key last summer."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov got the key and lock cleaned."),
        ("Who has the key?", "Ana: Ines has the key.", "Ana: Dov took the key, then Ines took it back."),
        ("How much are the dues?", "Ana: The dues are 40.", "Ana: The rent is due, it is 640 now."),
        ("How much is the rent?", "Ana: The rent is 640.", "Ben: The rent is 700 now."),
        ("How much is the gym?", "Ana: The gym is 30.", "Ben: Our gym is 40 now."),
        ("How much is clay?", "Ana: Clay is 14 a bag.", "Ana: We have 30 bags of clay now."),
        ("Where is the ladder?", "Ana: The ladder is in the garage.", "Ben: Put the ladder in the cellar, please."),
        ("Where is the ladder?", "Ana: The ladder is in the garage.", "Ben: Never moved the ladder to the cellar."),
        ("Where is the ladder?", "Ana: The ladder is in the garage.", "Ben: Last year Tom put the ladder in the cellar."),
    ],
)  # fmt: skip
def test_what_is_not_the_same_thing_replaces_nothing(tmp_path: Path, question: str, earlier: str, later: str) -> None:
    """A program is no home, another key no shed key, what did not happen no change, an exception no rule."""
    assert found(stored(tmp_path, earlier, later), question)[1] == {}


@pytest.mark.parametrize(
    ("earlier", "later", "day"),
    [
        ("The fair is on the 12th of December.", "The fair is now on the 19th.", "2026-12-19"),
        ("The fair is on the 28th of May.", "The fair is put off to the 4th.", "2026-06-04"),
        ("The fair is on the 4th of June.", "The fair was brought forward to the 30th.", "2026-05-30"),
        ("The fair is on the 12th of July.", "The fair is on the 19th of this month now.", "2026-02-19"),
        ("The fair is on Saturdays.", "The fair is on the 19th now.", "2026-02-19"),
        ("The fair is on 14 June, Tom's stall opens at nine.", "The fair is put off to the 21st.", "2026-06-21"),
        ("The fair is on 14 June, Tom's stall opens at nine.", "The fair is on the 21st.", "2026-02-21"),
        ("The fair is on the 3rd of July.", "The fair was moved forward to the 30th.", "2026-06-30"),
        ("The fair is on the 12th of July.", "The fair is now on Thursday the 19th.", "2026-02-19"),
    ],
)
def test_a_moved_day_is_in_the_month_of_the_day_that_it_replaces(
    tmp_path: Path, earlier: str, later: str, day: str
) -> None:
    """Later than that day if it is put off, earlier if brought forward; else it is the next such day."""
    store = stored(tmp_path, f"Ana: {earlier}", f"Ana: {later}")
    hits = Holding(FlatBackbone(store), store).retrieve(Query("When is the fair?"), 20)
    (times,) = [annotations_of(hit.unit.attributes) for hit in hits if hit.unit.text == later]
    assert [str(found.first) for found in times] == [day]


def test_a_day_that_moves_twice_stays_in_its_month(tmp_path: Path) -> None:
    """The second move counts from the day that the first one meant."""
    said = [
        "Ana: The fair is on the 14th of August.",
        "Ana: The fair is on the 20th now.",
        "Ana: The fair is on the 22nd now.",
    ]
    store = stored(tmp_path, *said)
    hits = Holding(FlatBackbone(store), store).retrieve(Query("When is the fair?"), 20)
    noted = {hit.unit.text[-8:]: [str(each.first) for each in annotations_of(hit.unit.attributes)] for hit in hits}
    assert noted["22nd now."[-8:]] == ["2026-08-22"]


def test_what_begins_later_holds_from_then_on(tmp_path: Path) -> None:
    """A rent told in February to rise from April is 900 in March."""
    said = ("Ana: The rent is 900 euros.", "Ana: The rent goes up to 980 euros from April.")
    store = stored(tmp_path, *said)
    for month, marks in ((3, {}), (4, {text_of(said[0]): text_of(said[1])})):
        assert found(store, "How much is the rent?", asked=datetime(2026, month, 15))[1] == marks


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ana: My alarm code is 7719.", "Ana: The alarm code is 4402 now."),
        ("Ana: The alarm code is 7719.", "Ana: My alarm code is 4402 now."),
    ],
)
def test_one_s_own_thing_is_the_thing(tmp_path: Path, earlier: str, later: str) -> None:
    marks = found(stored(tmp_path, earlier, later), "What is the alarm code?")[1]
    assert marks == {text_of(earlier): text_of(later)}


def test_a_reply_outside_the_scope_is_not_shown(tmp_path: Path) -> None:
    """Neither one that came after the end, nor one of somebody else."""
    store = stored(tmp_path, "Ana: The alarm code is 7719.", "Ben: What is the alarm code?\nAna: 4402")
    question = "What is the alarm code?"
    assert found(store, question)[1] == {"The alarm code is 7719.": "4402"}
    assert found(store, question, until=datetime(2026, 2, 1, 12))[1] == {}
    texts, marks = found(store, question, speakers=("Ben",))
    assert "4402" not in texts
    assert marks == {}


def test_two_people_are_two(tmp_path: Path) -> None:
    """What Ben says moves nothing of Ana's."""
    store = stored(tmp_path, "Ana: I live in Graz.", "Ben: I moved to Linz.")
    assert found(store, "Where does Ana live?")[1] == found(store, "Where does Ben live?")[1] == {}


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize(
    ("chats", "speakers", "texts", "is_replaced"),
    [
        ("cc", ("Ana", "Ben"), ("The alarm code is 7719.", "The alarm code is 4402 now."), True),
        ("cd", ("Ana", "Ana"), ("The alarm code is 7719.", "The alarm code is 4402 now."), False),
    ],
)
def test_the_ids_of_speakers_neither_join_chats_nor_split_one(
    tmp_path: Path, with_ids: bool, chats: str, speakers: tuple[str, str], texts: tuple[str, str], is_replaced: bool
) -> None:
    """A code of one chat is another one in the next, and whoever tells the new one replaces it in the first."""
    store = Store(tmp_path / "talk", HashEmbedder(), announce=lambda _: None)
    for place, (talk, speaker, text) in enumerate(zip(chats, speakers, texts, strict=True)):
        named = {SPEAKER_ID: f"{speaker}@form"} if with_ids else {}
        store.add_turns([Turn(talk, place, place, speaker, text, datetime(2026, 1 + place, 1, 10), attributes=named)])
    assert bool(found(store, "What is the alarm code?")[1]) is is_replaced


def test_a_value_that_is_back_is_not_replaced_by_what_was_between(tmp_path: Path) -> None:
    """Only what does not hold is marked, and a value that ended holds no more."""
    said = ("Ana: I live in Graz.", "Ana: I moved to Linz.", "Ana: I am back in Graz.")
    marks = found(stored(tmp_path, *said), "Where does Ana live?")[1]
    assert marks == {"I moved to Linz.": "I am back in Graz."}
    left = "I do not live in Graz any more."
    marks = found(stored(tmp_path, *said, f"Ana: {left}", name="left"), "Where does Ana live?")[1]
    assert set(marks) == {"I live in Graz.", "I moved to Linz.", "I am back in Graz."}
    assert left in marks.values()


def test_what_holds_is_found_beyond_the_hits(tmp_path: Path) -> None:
    """It takes the place of the first that is replaced; the number of hits stays what was asked for."""
    store = stored(tmp_path, *[f"Ana: I still live in Graz, number {each}." for each in range(6)], f"Ana: {YORK}")
    (hit,) = Holding(FlatBackbone(store), store).retrieve(Query("Where does Ana live?"), 1)
    assert (hit.unit.text, hit.holds, hit.moved_on) == (YORK, True, None)


def test_what_was_said_last_is_found_among_many(tmp_path: Path) -> None:
    """Also where more turns than are looked through at once have more of the words that are searched for."""
    said = [*["Back home in Graz now, living at home again, moved back."] * 230, "I moved to Linz."]
    begun = datetime(2026, 1, 1, 10)
    turns = [Turn("talk", 1, day, "Ana", text, begun + timedelta(days=day)) for day, text in enumerate(said)]
    store = Store(tmp_path / "talk", HashEmbedder(), announce=lambda _: None)
    store.add_turns(turns)
    hits = Holding(FlatBackbone(store), store).retrieve(Query("Where does Ana live?"), 5)
    assert (hits[0].unit.text, hits[0].holds) == (said[-1], True)
    assert {hit.moved_on.text for hit in hits[1:] if hit.moved_on} == {said[-1]}


def test_what_has_an_order_of_its_own_keeps_it(tmp_path: Path) -> None:
    """The whole scope is shown as it was said, with the marks."""
    store = stored(tmp_path, f"Ana: {LEEDS}", f"Ana: {YORK}")
    hits = Holding(WholeScope(store), store, moves=not BACKBONES[NAME].keeps_order).retrieve(
        Query("Where does Ana live?"), 20
    )
    assert [hit.unit.ordinal for hit in hits] == list(range(8))
    assert [hit.unit.text for hit in hits if hit.moved_on] == [LEEDS]


@pytest.mark.parametrize("text", ["Where " * 200 + "does Ana live?", "((((?", "", "Ana's", "Where does live?", "(Ana)"])
def test_a_question_may_be_anything(text: str) -> None:
    """It asks for nothing that is understood here."""
    assert asked_in(text) is None


def test_a_long_text_takes_no_more_than_its_length() -> None:
    """A pasted log is no statement."""
    asked = asked_in("Where does Ana live?")
    assert asked is not None
    assert states_in("I live in " * 20_000, asked) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Tom said: I'm done. I live in Hull now.",
        "> I live in Hull now.",
        "Imagine this. I live in Hull now.",
        "He reckons I live in Hull.",
    ],
)
def test_what_others_say_or_nobody_means_is_not_stated(text: str) -> None:
    """A quote goes on to the end of its line, and so does what is only imagined; the next line is the speaker's again."""
    asked = asked_in("Where does Ana live?")
    assert asked is not None
    assert states_in(text, asked) == ()
    (told,) = states_in(f"{text}\nWe live in York now.", asked)
    assert told.value == {"york"}
