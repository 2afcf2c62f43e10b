"""German words of the generator. A noun's gender: m, f, n or p (plural only)."""

ATTRIBUTES = {
    "length": "Höhe:f Länge:f Breite:f Tiefe:f Reichweite:f Spannweite:f Umfang:m Durchmesser:m Flughöhe:f Tiefgang:m Dicke:f Radius:m Abstand:m Wandstärke:f",
    "weight": "Gewicht:n Masse:f Nutzlast:f Ladung:f Traglast:f Leergewicht:n",
    "count": "Einwohnerzahl:f Kapazität:f Mitgliederzahl:f Belegschaft:f Auflage:f Besatzung:f Flotte:f Bestand:m Besucherzahl:f Stückzahl:f Ernte:f Publikum:n Personal:n Platzzahl:f",
    "money": "Budget:n Preis:m Umsatz:m Gebühr:f Miete:f Kaution:f Strafe:f Gehalt:n Darlehen:n Zuschuss:m Gewinn:m Tarif:m Aufschlag:m Spende:f Prämie:f Beitrag:m Lösegeld:n Honorar:n",
    "percent": "Luftfeuchtigkeit:f Anteil:m Wirkungsgrad:m Rabatt:m Wahlbeteiligung:f Marge:f Auslastung:f Genauigkeit:f Salzgehalt:m Reinheit:f Steigung:f Provision:f",
    "year": "Gründung:f Schließung:f Renovierung:f Eröffnung:f Premiere:f Restaurierung:f Fertigstellung:f Fusion:f Entdeckung:f Erweiterung:f Einweihung:f Abriss:m",
    "date": "Frist:f Geburtstag:m Jubiläum:n Termin:m Ablauf:m Anhörung:f Lieferung:f Abfahrt:f Ankunft:f Prüfung:f Wahl:f Verlängerung:f Auktion:f Hochzeit:f Stichtag:m",
    "duration": "Lebensdauer:f Garantie:f Dauer:f Verspätung:f Laufzeit:f Kündigungsfrist:f Probezeit:f Ausbildung:f Haltbarkeit:f Wartezeit:f",
    "person": "Direktorin:f Gründer:m Architektin:f Besitzer:m Kapitän:m Bürgermeisterin:f Autorin:f Vorsitzende:f Erfinder:m Leiterin:f Ansprechpartner:m Redakteurin:f Komponist:m Trainerin:f Kassenwart:m Kuratorin:f Ingenieur:m Verlegerin:f Dirigent:m Malerin:f Pilot:m Schiedsrichterin:f Hausmeister:m",
    "place": "Hauptsitz:m Geburtsort:m Hauptstadt:f Standort:m Herkunft:f Ziel:n Hafen:m Lager:n Wohnsitz:m Büro:n Veranstaltungsort:m Quelle:f Treffpunkt:m Endstation:f",
    "code": "Passwort:n Kennung:f Lizenz:f Seriennummer:f Rufzeichen:n Aktenzeichen:n Version:f Strichcode:m Charge:f Postleitzahl:f Durchwahl:f Kennzeichen:n Bestellnummer:f",
    "name": "Spitzname:m Motto:n Maskottchen:n Symbol:n Marke:f Währung:f Dialekt:m Wappentier:n Hymne:f Flaggschiff:n Lieferant:m Rivale:m Vorgänger:m Nachfolger:m Tochterfirma:f Partner:m Betreiber:m",
    "colour": "Farbe:f Anstrich:m Lackierung:f Uniform:f Umschlag:m",
    "material": "Material:n Stoff:m Dach:n Bodenbelag:m Rumpf:m Rahmen:m Brennstoff:m",
    "speed": "Geschwindigkeit:f Tempo:n Strömung:f",
    "temperature": "Temperatur:f Siedepunkt:m Schmelzpunkt:m",
    "time": "Sperrstunde:f Sonnenuntergang:m Frühstück:n Schicht:f Anstoß:m",
}
ADJECTIVES = (
    "jährlich durchschnittlich maximal minimal offiziell ehemalig aktuell zweit nördlich südlich ober neu alt gesamt erst letzt "
    "intern extern regional öffentlich privat ursprünglich bevorzugt endgültig täglich monatlich technisch gesetzlich"
).split()
VERBS = (
    "gegründet eröffnet gebaut entworfen restauriert gestrichen gekauft verkauft entdeckt umbenannt repariert geschlossen geprüft "
    "übersetzt veröffentlicht komponiert aufgenommen getestet geplant zerstört erweitert vergrößert gespendet registriert genehmigt "
    "abgelehnt gedruckt benannt vermessen fotografiert überflutet ausgegraben verlegt versichert gemietet gekrönt kartiert "
    "geschmückt gereinigt geliefert montiert geschmiedet gepflanzt geerntet gebraut gebacken gefilmt ausgezeichnet patentiert "
    "zertifiziert modernisiert erworben verstaatlicht digitalisiert archiviert unterzeichnet überarbeitet"
).split()
COLOURS = "rot blau grün gelb schwarz weiß grau orange lila braun rosa silbern golden türkis beige violett".split()
MATERIALS = "Eiche Stahl Glas Kupfer Wolle Baumwolle Schiefer Granit Ziegel Bambus Leder Marmor Aluminium Beton Seide Leinen Diesel Wasserstoff".split()
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
KINDS = (
    "Brücke:f Turm:m See:m Fluss:m Museum:n Schule:f Firma:f Fest:n Schiff:n Tal:n Burg:f Krankenhaus:n Bibliothek:f Bahnhof:m "
    "Theater:n Mine:f Brauerei:f Zeitung:f Bäckerei:f Tempel:m Orchester:n Verein:m Institut:n Reaktor:m Server:m Satellit:m Projekt:n "
    "Motor:m Dorf:n Insel:f Berg:m Kirche:f Markt:m Stadion:n Fabrik:f Weingut:n Labor:n Archiv:n Klinik:f Kanal:m Garten:m Hotel:n Wald:m"
).split()
FILLERS = (
    "viele Besucher kommen im Frühling und im Herbst|die Straße dahinter ist ruhig|einige Unterlagen gingen bei einem Feuer verloren|"
    "die Leute dort sind stolz darauf|die meiste Arbeit leisten Freiwillige|ein alter Brief erwähnt es|über die Einzelheiten wurde lange gesprochen|"
    "ein zweiter Brief wird erwartet|neben dem Eingang gibt es einen kleinen Laden|der Wind dreht dort schnell|niemand kennt den Grund|"
    "mehrmals stand es in der Zeitung|eine Führung dauert etwa eine Stunde|die Pläne wurden zweimal geändert|Kinder können kostenlos teilnehmen|"
    "im Archiv liegen einige Fotos|die Fachleute sind sich nicht einig|das Haus daneben steht leer|weitere Auskünfte gibt es auf Anfrage|"
    "es steht allen offen|der erste Versuch gelang nicht|ein Ausschuss trifft sich jeden Monat|die Aussicht von dort ist bekannt|"
    "ein Heft beschreibt die Geschichte|die Gruppe nutzt einfache Werkzeuge|man hat es oft mit den Nachbarn verglichen|manche Teile sind noch heute in Gebrauch"
).split("|")
