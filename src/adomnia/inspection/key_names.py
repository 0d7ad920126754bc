"""Which columns look like keys, and whose, by the names in a header alone: in several languages, however written."""

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

PEOPLE = {
    "patient": "patient pat pt pacient pazient pacjent пациент 患者",
    "person": "person people persona personne pessoa osob individu individual proband subject subj usubj participant "
    "partecipant teilnehmer respondent befragt respondant encuestad interviewee volunteer panelist resident bewohner "
    "bürger citizen cittadin ciudadan einwohner voter wähler donor spender 個人 住民 被験者",
    "customer": "customer cust kund kd client klient consumer konsument shopper buyer käufer acheteur comprador "
    "клиент 顧客",
    "insured": "versichert versicherungsnehmer assur assicurat asegurad segurad insured policyholder bene beneficiar "
    "beneficiary enrollee 被保険者",
    "member": "member mbr mitglied miembr membr socio adherent subscriber abonnent abonad 会員",
    "user": "user nutzer benutzer usuari utilisateur utent visitor besucher guest gast 利用者",
    "employee": "employe emp mitarbeiter personal beschäftigt salari emplead dipendent worker staff arbeitnehmer "
    "pracownik 社員 職員 従業員",
    "student": "student studierend schüler pupil elev alumn alun uczen learner matrikel 学生 学籍 生徒",
    "traveller": "passenger driver fahrer fahrgast",
    "player": "player athlet spieler joueur jugador",
    "household": "household haushalt menage hogar famiglia family familie famille 世帯",
    "account": "account acct konto kontoinhaber compte cuenta 口座",
    "applicant": "applicant bewerber candidat kandidat defendant inmate tenant mieter borrower debtor schuldner holder "
    "inhaber",
    "child": "child enfant mother mutter baby infant",
}
# Keys of people by themselves, and names by which people call themselves, which may change or be shared.
OWN_KEYS = (
    "ssn mrn nhs nino pesel nif dni nie cpf bsn cnp nir insee ahv svnr pseudonym passport reisepass passeport ausweis "
    "steuer fiscale sozialversicherung aadhaar pid uid "
    "cedula curp cpr hetu"
)
HANDLES = "email mail username login"
EVENTS = (
    "visit besuch order bestell bestellung auftrag commande pedido ordine case fall cas caso invoice rechnung factur "
    "factura facture fattur fattura transaction transaktion txn event ereignis booking buchung reservation "
    "reservierung encounter episode stay icustay aufenthalt admission hadm trip fahrt ride journey sample probe test "
    "exam prüfung klausur record row zeile line linie position pos item session sitzung log message nachricht "
    "ticket claim schaden payment zahlung purchase kauf sale verkauf review rating response "
    "antwort submission entry eintrag antrag appointment termin measurement messung lab labor befund untersuchung "
    "game match spiel award lesson course kurs receipt beleg bon shipment lieferung sejour visita venta vente"
)
# Numbers and codes of what many people share: of a year, a house, a country.
SHARED = (
    "year jahr month monat week woche day tag hour stunde house haus room zimmer raum floor telefon phone tel mobil "
    "fax plz postal post zip version page seite chapter area country land region state currency sprache language"
)
# Names of people, which several may share; other names, of products and towns, are no keys.
NAMES = "lastname surname fullname familienname nachname nom apellido apellidos cognome patientenname kundenname"
NAME = "name naam nombre"
NAME_PARTS = "last full family sur nach familien display"
# What makes a name that of a key; the weak words only alone, or beside one for a person or an event.
STRONG = "id ids uuid guid key identifier nr no kennung kennzeichen nummer schlüssel pk fk"
WEAK = "num number numero nro numer code kode codigo cod codice ref reference hash номер 番号"
FILLERS = (
    "de du des der die das di del della la le les el los the of a an d l o anon anonym pseudo pseudonymized unique "
    "study studien internal intern external extern global local hashed orig original encrypted"
)
# How compounds end in one, the longest first: Kundennummer, custno; and 患者番号, which has no spaces.
JOINED = (
    *("kennzeichen", "schlussel", "nummer", "number", "numero", "kennung", "code"),
    *("uuid", "guid", "num", "key", "nr", "id", "no", "番号"),
)


class KeyRank(IntEnum):
    """How much a name looks like the key of a person."""

    NONE = 0
    NAME = 1  # Nachname, customer_name: no key, but the same in all rows of one person
    EVENT = 2  # visit_id, Rechnungsnummer: a person may have several
    THING = 3  # id, team_id, Nr.: the key of something
    PERSON = 4  # client, email: it may name a person, and may be a title, or the subject of a lesson
    PERSON_KEY = 5  # Patienten-Nr., customer_id, ssn


@dataclass(frozen=True)
class KeyName:
    """The rank of a name, and what it is the key of: names of one concept may link tables.

    >>> read_key_name("Patienten-Nr.") == read_key_name("PatientID") == read_key_name("id", "patients")
    True
    """

    rank: KeyRank
    concept: str = ""


_NO_KEY = KeyName(KeyRank.NONE)
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMERO = re.compile(r"\bn[.\s]+(?=[º°])")  # N.º, as Spanish writes it
_SHORTEST = 2
_LONG = 7  # letters of a word that may end a compound: shorter ones end many another word
_PLURALS = ("", "e", "en", "n", "s", "es", "er")
_ENDINGS = (*_PLURALS, "in", "innen", "ern", "a", "as", "o", "os", "i", "y", "ee", "ees", "\N{CYRILLIC SMALL LETTER A}")
_SINGULAR = ("", "e", "in", "er", "a", "o")


def fold_name(written: str) -> str:
    """A name without case, punctuation and umlauts: what is the same in one key of two tables.

    >>> fold_name("Schüler-Nr.") == fold_name("SCHUELERNR")
    True
    """
    return "".join(_split(written))


def names_concept(table: str, concept: str) -> bool:
    """Whether a table is called after the people of a concept.

    >>> names_concept("Patienten 2024", "patient"), names_concept("visits", "patient")
    (True, False)
    """
    return any(_find_people(word) == concept for word in _split(table))


@cache
def read_key_name(written: str, table: str = "") -> KeyName:
    """Whether a column of that name, in a table of that name, looks like a key, and whose.

    >>> [read_key_name(name).rank.name for name in ("Kundennr", "client", "team_id", "order_no", "age")]
    ['PERSON_KEY', 'PERSON', 'THING', 'EVENT', 'NONE']
    """
    words = [word for word in _split(written) if word not in _FILLERS] or _split(written)
    if not words:
        return _NO_KEY
    by_itself = _read_own_key(words)
    if by_itself is not None:
        return by_itself
    if _names_people(words):
        return KeyName(KeyRank.NAME, "name")
    keys = [place for place, word in enumerate(words) if word in _KEYS]
    if not keys:
        return _read_one_word(words[0]) if len(words) == 1 else _read_compound(words[-1])
    first, last = keys[0], keys[-1]
    # The word before a key says of what it is, and after one that begins the name the word after it.
    around = [*reversed(words[:first]), *words[last + 1 :]] if first else words[1:]
    heads = [word for word in around if word not in _KEYS and not word.isdigit()]
    if not heads:
        return _read_bare_key(table)
    return _rank_key(heads[0], weak=not _STRONG.intersection(words))


def _read_own_key(words: list[str]) -> KeyName | None:
    """A word that is a key of people by itself, alone or beside words for keys: ssn, nhs_number, E-Mail."""
    plain = "".join(word for word in words if word not in _KEYS)
    for found in (plain, _strip(plain)):
        if found in _OWN_KEYS:
            return KeyName(KeyRank.PERSON_KEY, found)
        if found in _HANDLES:
            return KeyName(KeyRank.PERSON, found)
    return None


def _names_people(words: list[str]) -> bool:
    """Whether the values are names of people: last_name, customer name, or name alone."""
    *before, last = words
    of_people = all(word in _NAME_PARTS or _find_people(word) for word in before)
    return (last in _NAME and of_people) or "".join(words) in _NAMES


def _read_one_word(word: str) -> KeyName:
    """One word: for a person (client), or joined with one for a key (Kundennr, custno, idpatient)."""
    concept = _find_people(word, _SINGULAR)
    return KeyName(KeyRank.PERSON, concept) if concept else _read_compound(word)


def _read_compound(word: str) -> KeyName:
    stem = _strip(word)
    found = _NO_KEY if stem is None else _rank_key(stem, weak=False)
    # Any word may end in "no", "id" or "key": it is a key only with a word that is known.
    return _NO_KEY if found.rank is KeyRank.THING and not word.endswith("nummer") else found


def _read_bare_key(table: str) -> KeyName:
    """A key that does not say of what: of that which its table is called after."""
    for word in _split(table):
        found = _rank_key(word, weak=True)
        if found.rank is not KeyRank.NONE:
            return found
    return KeyName(KeyRank.THING, _singular(fold_name(table)))


def _rank_key(head: str, weak: bool) -> KeyName:
    people, event = _find_people(head), _find_stem(head, _EVENTS, _PLURALS)
    if people:
        return KeyName(KeyRank.PERSON_KEY, people)
    if event:
        return KeyName(KeyRank.EVENT, event)
    if weak or _find_stem(head, _SHARED, _PLURALS):
        return _NO_KEY
    return KeyName(KeyRank.THING, _singular(head))


def _find_people(word: str, endings: tuple[str, ...] = _ENDINGS) -> str | None:
    """The people that a word is for, in one of its forms, or at the end of a compound such as Privatkunden."""
    stem = _find_stem(word, _PEOPLE, endings)
    if stem is None and endings is _ENDINGS:
        ends = (known for known in _PEOPLE if len(known) >= _LONG and known in word[1:])
        stem = next((known for known in ends if word.rpartition(known)[2] in _ENDINGS), None)
    return None if stem is None else _PEOPLE[stem]


def _find_stem(word: str, known: frozenset[str] | dict[str, str], endings: tuple[str, ...]) -> str | None:
    stems = (word.removesuffix(ending) for ending in endings if word.endswith(ending))
    return next((stem for stem in stems if stem in known), None)


def _strip(word: str) -> str | None:
    """A word without the one for a key that is joined to it."""
    ends = (stem for joined in JOINED for stem in (word.removesuffix(joined), word.removeprefix(joined)))
    return next((stem for stem in ends if stem != word and len(stem) >= _SHORTEST), None)


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _split(written: str) -> list[str]:
    small = _NUMERO.sub("n", _CAPITALS.sub(" ", written).casefold())
    plain = unicodedata.normalize("NFKD", small.replace("°", "o"))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return [_fold_umlauts(word) for word in re.split(r"[\W_]+", letters) if word]


def _fold_umlauts(word: str) -> str:
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _fold_words(words: str) -> frozenset[str]:
    return frozenset(fold_name(word) for word in words.split())


_PEOPLE = {word: concept for concept, words in PEOPLE.items() for word in _fold_words(words)}
_OWN_KEYS, _HANDLES = _fold_words(OWN_KEYS), _fold_words(HANDLES)
_EVENTS, _SHARED = _fold_words(EVENTS), _fold_words(SHARED)
_STRONG, _FILLERS = _fold_words(STRONG), _fold_words(FILLERS)
_NAME, _NAMES = _fold_words(NAME), _fold_words(NAMES)
_NAME_PARTS = _fold_words(NAME_PARTS)
_KEYS = _STRONG | _fold_words(WEAK)
