"""The signs of each concern in French and English, and the sayings that only sound like one. All on folded text."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """`always` counts whatever stands before it; `unless_denied` does not when the clause denies it."""

    always: re.Pattern[str]
    unless_denied: re.Pattern[str]


def _signs(*, always: tuple[str, ...] = (), unless_denied: tuple[str, ...] = ()) -> Signs:
    return Signs(always=_any(always), unless_denied=_any(unless_denied))


def _any(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern of many at the edges of words; one that matches nothing when there are none."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})\b" if patterns else r"(?!)")


_LAUGHTER = r"(?:rire|faim|soif|froid|chaud|ennui|honte|peur|trouille|jalousie|fatigue|envie de)"
IDIOMS = re.compile(
    rf"\b(?:mort\w*|mour\w+|meurs?|creve\w*|crever) (?:de |d'){_LAUGHTER}"
    r"|\ba mourir(?! (?:de|dans))\b|\bje me tue a (?:\w+ ){0,3}(?:dire|repeter|expliquer|la tache|bosser)\b"
    r"|(?<!qu')\b(?:tu|ca|il|elle|on|vous) (?:me|m') ?(?:tues?|tuent|fait mourir|fais mourir)(?: (?:de rire|lol|mdr))?\b"
    r"|\bc'est mortel\b|\btrop mortel\w*\b|\btuer le temps\b|\bse?'? ?jeter a l'eau\b|\bme (?:jeter|lancer) a l'eau\b"
    r"|\b(?:couper|finir|mettre fin) (?:a |au )?(?:la )?(?:conversation|discussion|relation|histoire|abonnement|pause)\b"
    r"|\bplutot (?:mourir|crever)\b|\bsuicide (?:squad|social|professionnel|commercial)\b|\bsuicid(?:e|al) (?:political|career)\w*\b"
    r"|\b(?:political|social|career|professional) suicide\b"
    r"|\b(?:die|dying|died|dead) (?:of|from|with) (?:laughter|laughing|hunger|boredom|embarrassment|shame|cold|heat)\b"
    r"|\b(?:die|dying|died) laughing\b|\bdying (?:to|for)\b|\bto die for\b|\b(?:drop )?dead (?:tired|serious|gorgeous|beat)\b"
    r"|(?<!to )(?<!will )\bkill(?:s|ing|ed)? (?:me|it|time)(?! (?:if|when|tonight|tomorrow))\b|\bkiller\b|\bdressed to kill\b"
    r"|\bi'd (?:rather die|kill for|kill to)\b|\bi (?:could|would) kill for\b|\bover my dead body\b"
    r"|\bmy (?:feet|back|head) (?:is|are) killing\b"
    r"|\ben danger de (?:tomber|rire|craquer)\b|\bappelle la police d[ue]\b|\bsi (?:elle|il|tu|on) \w+ (?:non|pas)\b.{0,12}\b(?:haha|lol|mdr)"
    r"|\b(?:hit|hits|hitting) me up\b|\bbeat me (?:at|in|to)\b|\bdie my hair\b|\bmourir pour (?:un|une|du|des)\b"
    r"|\bfinir avec (?:le celibat|les applis?|cette appli|l'attente)\b|\bvide[- ]grenier\b"
    r"|\btape\w* (?:sur l'epaule|la discute|dans l'oeil)\b|\bva me tuer (?:si|quand) (?:je|j')|\b(?:a l'aide|au secours),? (?:je (?:comprends|sais|suis perdu)|ori|mdr|lol|pour)"
    r"|\bharcel\w+ (?:de questions|au telephone pour vendre)\b"
)
STORIES = re.compile(
    r"\b(?:film|films|serie|series|livre|roman|podcast|chanson|documentaire|article|expo|piece|movie|book|novel|show|song|podcast"
    r"|documentary)\b[^,;.!?]{0,25}\b(?:sur|ou|qui parle|about|on|where|called|nomme\w*|appele\w*)\b[^,;.!?]*"
)

_WISH = r"(?:envie|besoin|idee|pense a|songe a|preferer\w*|prefere|voulu|veux|voudrais|aimerais)"
SELF_HARM = _signs(
    always=(
        r"(?:je )?(?:ne |n')?(?:veux|veu|voudrais|ai envie de|peux) ?(?:plus|pu) (?:de )?(?:vivre|etre la|exister|continuer a vivre)(?! (?:a|en|dans|avec|ici|chez|seule?)\b)",
        r"(?:n'ai |j'ai |ai )?plus (?:envie|gout|la force) (?:de |a )(?:vivre|la vie|exister)",
        r"pas envie de (?:vivre|me reveiller)|ne plus (?:me reveiller|exister|etre la)",
        r"(?:do not|don't|dont) (?:want|wanna) (?:to )?(?:live|be alive|be here|wake up|exist)(?! (?:in|with|near|there|at|far|alone)\b)",
        r"(?:no|not) (?:reason|point|will) (?:to|in) (?:live|living|go on living)|not worth living|better off (?:dead|without me)",
        r"ca ne vaut (?:pas|plus) la peine de vivre|la vie ne vaut (?:pas|plus)|(?:plus|pas) (?:de|aucune) raison de (?:vivre|continuer)|personne ne remarquerait si je (?:mourais|disparaissais)",
    ),
    unless_denied=(
        (
            rf"{_WISH} (?:de |d'|a |que )?(?:mourir|crever|me tuer|en finir|disparaitre|me suicider|me faire du mal|me foutre en l'air)"
            r"(?! (?:seule?|vieux|vieille|avec|pour elle|pour lui|de (?:ce|cette|ton|ta|l'appli|la liste)))"
        ),
        (
            r"(?:je |j')?(?:vais|veux|voudrais|peux) (?:me (?:tuer|suicider|foutre en l'air|pendre|jeter (?:sous|par|du)|faire du mal|scarifier)"
            r"|en finir|mourir|mettre fin a mes jours)(?! (?:avec (?:lui|elle|cette|ce)|de vieillesse|seule?|vieux))"
        ),
        r"(?:me|me suis) (?:suicider|scarifi\w+|mutil\w+|taillad\w+)|(?:mieux|simple) si (?:je n'etais plus|j'etais (?:morte?|plus)|je disparaissais)|mettre fin a (?:mes jours|ma vie)|en finir avec (?:la vie|tout)",
        r"(?:pense|pensais|pensees?|penser|pense) (?:\w+ )?(?:au suicide|a mourir|a en finir|a la mort tous les jours)",
        r"(?:idees|pensees|envies) (?:noires|suicidaires)|je suis suicidaire|tentative de suicide|(?:me suis|je me) (?:taillade|scarifie|coupe)\w* (?:les (?:veines|bras)|expres)",
        r"je me fais (?:du mal|mal (?:expres|volontairement))|(?:me |vais )(?:jeter|sauter) (?:sous un|sous le|d'un|du) (?:train|metro|pont|toit|immeuble|balcon)|(?:vais|je) (?:passer|passe) a l'acte|(?:rejoindre|retrouver) \w+ \w+ au ciel",
        r"(?:took|swallowed) (?:too many|all (?:my|the)|a bottle of) (?:\w+ )?(?:pills|tablets|meds)|kms",
        r"(?:avale|pris|prendre|avaler) (?:tous|toutes|toute|trop de) (?:\w+ ){0,2}(?:medicaments|medocs|cachets|pilules|boite|plaquette)",
        (
            r"(?:want|wanna|going|ready|wish|wished|planning) (?:to )?(?:die|kill myself|end it(?: all)?|end my life|hurt myself|disappear forever)"
            r"(?! (?:alone|old|happy|laughing))"
        ),
        r"(?:kill|hurt|harm|cut|hang|cutting|harming|hurting|killing) myself(?! (?:shaving|cooking|at|playing|in|on|by accident|laughing))|i wish i (?:was|were) dead|end(?:ing)? my (?:own )?life",
        r"(?:i am|i'm|feel|feeling) suicidal|suicidal (?:thoughts|ideas)|thinking (?:about|of) suicide|self[- ]harm(?:ing|ed)?|overdos\w+",
    ),
)
_SOMEBODY = (
    r"(?:il|elle|on|mon ex|ma copine|mon copain|mon mari|ma femme|mon pere|quelqu'un|ce type|ce mec|un type|un mec)"
)
_SOMEONE = r"(?:he|she|they|someone|somebody|my ex|my (?:husband|wife|boyfriend|girlfriend|dad|father)|a (?:guy|man)|this (?:guy|man))"
DANGER = _signs(
    always=(
        r"(?:ne me sens|me sens|suis|ne suis) (?:pas|plus) (?:du tout )?en securite|(?:do not|don't|dont) feel safe|(?:am|'m) not safe",
        r"(?:me laisse|laisse) pas (?:sortir|partir)|(?:won't|wont|will not|doesn't) let me (?:out|leave|go)(?! (?:to|with) )",
        r"n'arrete pas de me (?:frapper|suivre|taper)",
    ),
    unless_denied=(
        (
            rf"{_SOMEBODY} (?:m'a|me|m'|vient de me|va me|veut me|a essaye de me|menace de me) ?"
            r"(?:frapp\w+|tap\w+|cogn\w+|gifl\w+|battu\w*|bats?|tabass\w+|etrangl\w+|agress\w+|viol\w+|poignard\w+|blessee?|tuer|enferm\w+|sequestr\w+)"
        ),
        rf"{_SOMEBODY} (?:me |m'a |m')(?:suit|suivi\w*|attend|menac\w+|poursui\w+)(?: (?:dehors|dans la rue|en bas|chez moi|devant (?:chez|ma|la porte)|avec un|de))",
        rf"{_SOMEBODY} me suit(?! (?:sur|depuis des annees|bien|partout sur|pas))|je suis suivie? (?:dans|par|jusqu)|(?:a|avec) (?:un couteau|une arme|un flingue)",
        r"(?!ca |cela |qui |chat |chien )\w+ m'(?:a|avait) (?:frappee?|giflee?|cognee?|violee?|etranglee?|tabassee?|agressee?)(?! (?:par|de sa))",
        r"je suis (?:enfermee?|sequestree?|coincee? (?:chez|avec) lui)|(?:has|with|got|pulled) a (?:knife|gun)",
        rf"{_SOMEBODY} m'a (?:drogue\w*|forcee?|force|touchee? sans)|a mis quelque chose dans mon verre",
        r"(?:je suis|suis|j'suis|on est) en danger|(?:j'ai |ai )(?:tres |trop )?peur (?:pour ma vie|qu'(?:il|elle) (?:me (?:tue|frappe|fasse|trouve|retrouve|suive)|vienne|revienne)|de lui|d'elle|de rentrer)",
        r"(?:me suis|j'ai ete|ai ete|je me suis) (?:fait |faite )?(?:agress\w+|viol\w+|frapp\w+|suivre jusque|droguee?|droguer)",
        r"(?:appelle|appelez|besoin de) (?:la police|les flics|les secours)|au secours|a l'aide",
        (
            rf"{_SOMEONE} (?:just |is |was |has |keeps |tried to |is going to |wants to |threatened to )*"
            r"(?:hit|hitting|hits|beat|beats|beating|beaten|punch\w*|slap\w*|strangl\w+|chok\w+|attack\w*|rap(?:e|ed|ing)|stab\w*|hurt|kill|drug\w*|lock\w*|follow\w*) me"
        ),
        r"(?:i am|i'm|we're|im) in danger|(?:i am|i'm|im) (?:scared|afraid|terrified) (?:of (?:him|her|them|going home)|for my life|he|she)",
        r"(?:i was|i've been|i got) (?:assaulted|attacked|raped|drugged|beaten|followed home|spiked)|spiked my drink|call the (?:police|cops)",
    ),
)
THREAT = _signs(
    unless_denied=(
        (
            r"je (?:vais|veux) (?:la|le|les|te|lui) (?:tuer|buter|crever|frapper|cogner|planter|defoncer|faire du mal|casser la gueule|peter la gueule)"
            r"(?! (?:au|aux|de rire|ce (?:chat|chien))\b)(?![^,;.!?]*\b(?:lol|mdr|ptdr|haha))"
        ),
        r"je sais ou (?:elle|il|tu) (?:habites?|vis|vit)|(?:elle|il) va (?:me le |le )?(?:payer cher|regretter)",
        r"i(?:'m going to|'ll| will|'m gonna| want to) (?:kill|hurt|beat|stab|punch|smash) (?:her|him|them|you)(?! (?:at|in) )",
        r"i know where (?:she|he|you) lives?|(?:she|he)(?:'ll| will) (?:pay for (?:it|this)|regret)",
    )
)
HARASSMENT = _signs(
    always=(
        r"n'arrete pas de m'(?:ecrire|appeler|envoyer|insulter)|n'arrete pas de me (?:harceler|contacter|relancer|texter)",
        r"(?:won't|wont|doesn't|will not) (?:stop|leave me) (?:texting|calling|messaging|writing|contacting|insulting|alone)",
    ),
    unless_denied=(
        rf"(?:{_SOMEBODY}|\w+) (?:me |m'a |m')(?:harcel\w+|insult\w+|traite\w* de|fai(?:t|sait) du chantage|menace)|menace de (?:publier|montrer|diffuser|envoyer)",
        rf"{_SOMEBODY} (?:ne )?me laisse (?:pas|plus) tranquille|{_SOMEBODY} m'(?:envoie|ecrit|appelle) (?:\w+ ){{0,3}}(?:toute la nuit|sans arret|toutes les (?:heures|minutes)|jour et nuit)",
        r"(?:je suis|suis|ai ete|j'ai ete|me fais|me sens) (?:harcel\w+|insult\w+|menacee?)|(?:du|de) (?:harcelement|chantage)",
        r"(?:photos?|video|nudes?) (?:intimes?|de (?:son|sa) \w+|non sollicitees?|de moi nue?)|dick ?pics?|envoye (?:son|sa) (?:sexe|bite)",
        r"(?:harass\w+|stalk\w+|blackmail\w+|bull(?:y|ied|ying)) me|(?:being|been|am|'m) (?:harassed|stalked|blackmailed|bullied)|(?:nude|unsolicited) (?:pics?|photos?)",
        rf"{_SOMEONE} (?:keeps |kept |is |was )?(?:insult\w+|threaten\w+|harass\w+|stalk\w+) me|threaten(?:s|ed|ing) to (?:share|post|publish|leak)|keeps (?:texting|calling|messaging|writing to|following) me",
    ),
)
DISTRESS = _signs(
    always=(
        r"j'en (?:peux|peu) ?(?:vraiment )?plus(?! (?:d'attendre|de (?:rire|ce|cette|la pluie|l'hiver|patienter)))",
        r"(?:je )?(?:ne |n')?(?:sers|sert) (?:a|plus a) rien|plus rien n'a de sens|ca (?:ne )?va (?:vraiment |plus )?pas du tout|ca ne va plus",
        r"(?:i )?(?:can't|cannot|cant) (?:take|do|go on)(?: it| this)?(?: anymore| any more| any longer)(?! of)",
    ),
    unless_denied=(
        r"(?:au |a )?bout du rouleau|(?:je suis|suis|me sens) (?:tres |trop |completement )?(?:deprimee?|desesperee?|au fond du trou|vide|detruite?|nulle? et seule?)",
        r"(?:je )?(?:pleure|chiale) (?:tous les (?:jours|soirs)|sans arret|tout le temps|toutes les nuits)|(?:je fais|fait) une depression|(?:je suis )?en depression",
        r"(?:je me sens|me sens) (?:tellement |si |tres |trop )seule?|s'est (?:suicidee?|tuee?|pendue?)|a mis fin a ses jours",
        r"(?:i am|i'm|im|feel|feeling) (?:so |very |really |completely )?(?:depressed|hopeless|desperate|worthless|broken|empty)|cry(?:ing)? (?:every (?:day|night)|all the time)",
        r"je craque(?! (?:pour|sur|devant))|(?:le )?moral (?:a zero|dans les chaussettes|au plus bas)",
        r"(?:i feel|feeling|feel) so (?:alone|lonely)|(?:killed|hanged) (?:himself|herself)|took (?:his|her) own life|(?:at )?the end of my rope",
    ),
)
