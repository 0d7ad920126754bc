"""Words of headers, in several languages: for people, for what happens to them, and for keys. Endings are left out."""

__all__ = [
    "EVENTS",
    "FILLERS",
    "HANDLES",
    "JOINED",
    "NAME",
    "NAMES",
    "NAME_PARTS",
    "OWN_KEYS",
    "PEOPLE",
    "SHARED",
    "STRONG",
    "WEAK",
]

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
