"""Names to give to people, places and things in place of their own, so that none is learnt by heart."""

from __future__ import annotations

WOMEN = tuple(
    """Adaeze Agnes Aisha Alma Amara Amelia Anouk Anya Aoife Asha Astrid Aya Beata Bianca Bridget Camila Carla Carmen
    Celeste Chloe Clara Daniela Delia Dorothea Ebba Edith Eleanor Elena Elsa Emma Esther Eva Fatima Fiona Flora Freya
    Gabriela Gemma Gloria Hana Heidi Helen Hilde Ida Imani Ingeborg Irina Isabel Ivana Jana Jasmine Joan Johanna Julia
    Kamala Karin Kezia Laila Laura Lena Lidia Lina Lotte Lucia Magda Maia Malin Margot Maria Mariam Marlene Martha
    Matilda Maya Meera Mina Miriam Molly Nadine Naomi Nina Noor Nora Olga Olivia Paula Petra Philomena Rachel Ramona
    Rania Rebecca Rita Rosa Ruth Sabine Sadia Sakura Sarah Selma Shanti Signe Simone Sofia Stella Sunita Tamar Tanja
    Teresa Thandi Ulla Uma Ursula Valentina Vera Viola Wendy Xiu Yasmin Yvonne Zara Zoe""".split()
)
MEN = tuple(
    """Aaron Abdul Adam Adrian Ahmed Alan Albert Alex Amir Anders Andre Angus Antonio Ari Arnav Arthur Axel Babak
    Baptiste Ben Bilal Boris Bruno Carl Carlos Cedric Chen Christian Colin Conor Daniel David Dennis Dimitri Edgar
    Edward Emil Enzo Eric Ethan Ezra Felix Finn Francis Frank Gabriel George Gilbert Giorgio Goran Hamza Hans Harald
    Hassan Henry Hiro Hugo Ian Ibrahim Igor Ivan Jack Jacob James Javier Joao Joel John Joseph Juan Kai Kenji Kevin Kojo
    Lasse Leo Leon Liam Louis Lucas Luis Magnus Malik Marco Mario Martin Max Michael Miguel Milan Mohan Nathan Neil
    Nico Noah Oliver Omar Oscar Otto Owen Pablo Patrick Paul Pedro Peter Philip Rafael Rajesh Ralph Raymond Reza Richard
    Robert Roman Rupert Sam Sanjay Sebastian Simon Stefan Sven Tarek Thomas Tim Tom Umar Victor Vincent Walter William
    Xavier Yannick Yosef Zaid""".split()
)
PLACES = tuple(
    """Aberfell Antwerp Arles Ashby Austin Bath Bergen Bilbao Bologna Bombay Boston Bremen Brno Cadiz Cairo Calgary
    Cardiff Chester Cordoba Cork Dakar Dallas Denver Derby Dresden Dublin Durham Eastmoor Exeter Faro Galway Geneva
    Genoa Ghent Glasgow Graz Halifax Hamburg Hanoi Harrowgate Helsinki Houston Hull Innsbruck Izmir Jena Kampala Kiel
    Kingsbrook Lagos Leeds Leipzig Leuven Lima Limerick Lincoln Lisbon Lublin Lucerne Lyon Madison Malmo Manila Marburg
    Memphis Milan Montreal Nairobi Nantes Naples Norwich Odense Osaka Ostend Oxford Padua Palermo Perth Pisa Plymouth
    Porto Portland Poznan Quito Ravenna Reims Riga Rochester Rostock Rouen Salerno Salford Seville Siena Split Stirling
    Tampere Tangier Toledo Toulon Trieste Truro Turin Utrecht Valencia Verona Vigo Westerby Wexford York Zadar
    Zagreb""".split()
)
ONSETS = (
    "B Br C Cal Cor D Dal El F Fen G Gar H Hal J K Kel L Lor M Mar N Nor Or P Pel Qu R S Sel T Tar V Vel W Z".split()
)
MIDDLES = "a e i o u an en in on ar er or al el il am em and est ill".split()
ENDINGS = "ba da den do dor ga ka la lo ma mer mo na ne nix no ra ric ro sa ta tis ton va vane via wick xo".split()

NO_NAMES = frozenset(
    """Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays
    Sundays January February March April May June July August September October November December Jan Feb Mar Apr Jun
    Jul Aug Sep Sept Oct Nov Dec Christmas Easter Eve Year New Boxing Day Halloween Ramadan Diwali Eid Lent Passover
    Thanksgiving Valentine Midsummer Advent Epiphany English French German Dutch Greek Turkish Polish Swedish Danish
    Finnish Spanish Welsh Irish Scottish Czech Thai Arabic Swiss Hindi Urdu Swahili Yoruba Igbo Latin Hebrew Europe
    European Africa African Asia Asian America American The This That What When Where Who Why How And But Not Yes God
    Mr Mrs Ms Dr Miss Sir Lord Lady Saint San Santa Aunt Aunty Auntie Uncle Grandma Grandpa Granny Mum Mom Mama Mummy
    Dad Papa Daddy Assistant Wifi Internet Excel Google Zoom Monopoly Bluetooth""".split()
)
"""Capitalised words that stay: of the calendar, of languages, of how people are addressed."""
