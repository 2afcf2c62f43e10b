"""English words of the generator. Attribute nouns are grouped by the kind of value they take."""

ATTRIBUTES = {
    "length": "height length width depth range wingspan circumference diameter altitude draught span thickness radius reach perimeter",
    "weight": "weight mass payload tonnage load cargo ballast",
    "count": "population capacity membership staff circulation enrolment crew fleet seating inventory attendance output yield stock audience headcount workforce print-run herd quota",
    "money": "budget price revenue turnover cost fee rent deposit fine salary loan grant subsidy profit tariff surcharge bounty insurance bail ransom donation premium allowance refund",
    "percent": "humidity share efficiency discount turnout margin occupancy accuracy salinity literacy purity moisture gradient coverage commission",
    "year": "founding closure renovation opening launch debut restoration completion merger discovery expansion jubilee inauguration demolition patent",
    "date": "deadline birthday anniversary premiere appointment expiry hearing delivery departure arrival inspection ceremony election renewal auction graduation wedding",
    "duration": "lifespan warranty duration delay runtime notice lease training visit probation shelf-life half-life transit",
    "person": "director founder architect owner captain mayor author chair inventor designer manager contact editor composer coach treasurer curator engineer sponsor ambassador publisher librarian conductor painter sculptor pilot guardian supervisor referee translator",
    "place": "headquarters birthplace capital venue location origin destination port terminal depot residence office campus warehouse harbour source shelter crossing",
    "code": "password identifier license registration serial callsign reference index version barcode passcode token batch permit ticket postcode extension",
    "name": "nickname motto mascot symbol brand currency dialect emblem anthem flagship trademark pseudonym supplier sponsor rival predecessor successor subsidiary partner operator",
    "colour": "colour paint livery uniform coating cover",
    "material": "material fabric roof flooring hull frame ingredient fuel",
    "speed": "speed airspeed pace current",
    "temperature": "temperature boiling-point melting-point",
    "time": "check-in curfew sunset breakfast shift kick-off",
}
ADJECTIVES = (
    "annual average maximum minimum official former current second main northern southern upper lower new old total net first last "
    "internal external standard regional public private original preferred primary final daily monthly legal technical commercial"
).split()
VERBS = (
    "founded opened built designed restored painted bought sold discovered renamed repaired launched closed inspected translated "
    "published composed recorded tested planned rebuilt destroyed extended enlarged donated registered approved rejected printed "
    "named measured photographed surveyed flooded excavated relocated insured rented leased audited crowned mapped decorated "
    "tuned cleaned delivered assembled forged planted harvested brewed baked filmed staged awarded patented certified modernised "
    "acquired liquidated nationalised privatised digitised catalogued archived signed ratified drafted revised"
).split()
COLOURS = "red blue green yellow black white grey orange purple brown pink silver golden turquoise crimson beige violet".split()
MATERIALS = "oak steel glass copper wool cotton slate granite brick bamboo leather marble aluminium concrete silk linen diesel hydrogen".split()
MONTHS = "January February March April May June July August September October November December".split()
KINDS = (
    "bridge tower lake river museum school company festival ship valley castle hospital library station theatre mine brewery "
    "airline newspaper bakery temple railway orchestra club institute reactor server satellite project engine village island "
    "mountain church market stadium factory vineyard laboratory archive clinic canal garden hotel harbour forest"
).split()
FILLERS = (
    "many visitors come in spring and early autumn|the road behind it is quiet|several records were lost in a fire|local people are proud of it|"
    "most of the work is done by volunteers|it is mentioned in an old letter|the details were discussed for a long time|a second report is expected|"
    "there is a small shop next to the entrance|the weather there changes quickly|nobody remembers the reason|it was in the news more than once|"
    "a guided tour takes about an hour|the plans were changed twice|children can take part free of charge|some photographs are kept in a drawer|"
    "experts disagree about the details|the building next door is empty|further information is available on request|it is open to everyone|"
    "the first attempt was not successful|a committee meets every month|the view from there is well known|a brochure describes the history|"
    "the team uses simple tools|it has often been compared with its neighbours|some parts are still in use today|the contract was extended last week"
).split("|")
