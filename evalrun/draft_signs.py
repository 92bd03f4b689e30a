"""Wordings by which a drafted message gives its writer away: as an assistant, a model, a writer of plays.

Patterns in French and English over text as typed or folded (each says which). A person must be
able to type almost anything else; `benchmarks/draft_checks.py` measures both sides.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"```\w*|~~~")

REASONING = re.compile(
    r"</?(?:think|thinking|thought|reasoning|scratchpad)>"
    r"|^\W{0,5}(?:okay|ok|so|hmm|alright)?\W{0,5}the user (?:wants|said|says|asks|asked|is asking|needs)\b"
    r"|\bthe user (?:wants|asked|expects|needs) me to\b"
    r"|\bthe (?:agent|assistant|bot|system) (?:is asking|asks|asked|wants)\b.{0,80}\b(?:so i|i should|i need to|i must|i'll)\b"
    r"|\bl'(?:agent|assistant) (?:me )?demande\b.{0,80}\b(?:donc je|je dois|je vais)\b"
    r"|\bl'utilisateur (?:veut|demande|souhaite) (?:que je|de moi)\b"
    r"|\b(?:i should|i need to|i must|i will|i'll) (?:respond|reply|answer|stay in character) (?:as|with|in)\b"
    r"|\bje (?:dois|vais|devrais) (?:répondre|jouer|rester|parler|écrire)\b.{0,30}\b(?:en tant que|dans (?:le|mon) rôle|comme le ferait)"
    r"|\b(?:stay(?:ing)?|remain(?:ing)?) in character\b|\bin the role of\b|\bdans la peau de\b"
    r"|\b(?:as per|according to|following|per) (?:the|my) (?:instructions?|prompt|guidelines|persona)\b"
    r"|\b(?:selon|suivant|d'après|conformément à|comme demandé dans) (?:la|les|ma|mes) (?:consignes?|instructions?)\b"
    r"|\b(?:under|at most|fewer than|less than) \d+ characters\b|\b(?:moins de|maximum) \d+ caractères\b"
    r"|^\W{0,5}(?:réflexion|raisonnement|analyse|thoughts?|reasoning|analysis)\s?:"
    r"|\bdone\W{1,4}(?:true|false)\b|\bdone should be\b|\b(?:since|as) my goal is to\b"
    r"|\bthe conversation has (?:reached|come to|met)\b|\bla conversation a atteint\b"
    r"|\b(?:fits|suits|matches) the (?:character|persona)\b|\bconforme au (?:personnage|rôle|profil)\b"
    r"|\bvoici (?:une (?:réponse|version|proposition)|un (?:message|exemple)|la réponse de)\b"
    r"|\bhere(?:'s| is) (?:a|one|my) (?:possible|suggested|short|draft|sample) (?:reply|response|answer|message)\b",
    re.IGNORECASE,
)
"""Over the text as typed, with typed apostrophes."""

_VERBS = (
    r"(?:sigh|grin|laugh|nod|shrug|look|wink|frown|type|lean|wave|cough|roll|gasp|cross|sip|check|scratch|rub|mutter"
    r"|whisper|groan|yawn|sob|tilt|raise|bite|stare|chuckle|smirk|blush|hesitat|paus|smil|glanc|shak|giggl|tak|think"
    r"|clear|stroke|turn|stand|sit)(?:e?s|ing|ed)?(?!\w)"
    r"|(?:soupire|soupir|sourit|sourire|sourires|souriant|rit|rires?|rigole|hoche|hochement|hausse|haussement|réfléchit"
    r"|regarde|regard|hésite|fronce|souffle|pleure|larmes|tousse|rougit|acquiesce|secoue|caresse|croise|serre|baisse"
    r"|détourne|murmure|marmonne|chuchote|grogne|bâille|sanglote|lève|tape|prend une|boit|silence|long silence|petit silence|clin d'œil)(?!\w)"
)
STAGE = re.compile(
    rf"(?<![*\w])\*(?:{_VERBS})[^*\n]{{0,60}}\*(?!\*)"
    # several words between asterisks or square brackets, before or after what is said
    r"|^[ \t]*\*[^\W\d_][^*\s]*(?:[ \t]+[^*\s]+){1,7}\*(?=[ \t]*\w)|(?<=[\w.!?])[ \t]*\*[^\W\d_][^*\s]*(?:[ \t]+[^*\s]+){1,7}\*[ \t]*$"
    r"|\[[^\W\d_][^\]\s]*(?:[ \t]+[^\]\s]+){1,9}\]"
    rf"|^[ \t]*[(\[](?:{_VERBS})[^)\]\n]{{0,60}}[)\]]|[(\[](?:{_VERBS})[^)\]\n]{{0,60}}[)\]][ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Gestures between asterisks, or in brackets at an end of a line; over the text as typed."""

LABEL = re.compile(
    r"(?mi)^\W{0,4}(?:user|assistant|agent|human|bot|ai|system|customer|client|cliente|utilisateur|utilisatrice|humain"
    r"|assistante)\W{0,3}\s?:"
)
SPEAKER = re.compile(r"(?mi)^[^\S\n]*(?:\[[\w' -]{1,24}\]\s?:?|\*{0,2}[\w'-]{1,24}\*{0,2}\s?:)(?=\s|\*)")
FIRST_PERSON = re.compile(r"(?mi)^[^\S\n]*[\[*]{0,2}(?:moi|me)[\]*]{0,2}\s?:")

ASSISTANT = re.compile(
    r"\bcomment (?:puis-je|je peux|pourrais-je) (?:vous |t'|te )?(?:aider|assister|être utile)"
    r"|\ben quoi (?:puis-je|je peux) (?:vous |t'|te )?(?:aider|être utile)"
    r"|\bje suis (?:là|ici) pour (?:vous|t') ?aider"
    r"|\bje (?:suis|serais) (?:ravie?|heureux|heureuse) de (?:vous |t')(?:aider|accompagner)"
    r"|\b(?:voici|voilà) (?:le|un) (?:message|texte|mail|e-mail) (?:que (?:vous pouvez|tu peux)|à) (?:lui )?envoyer"
    r"|\bn'hésite[sz]? pas à me (?:demander|solliciter|contacter)\b"
    r"|\bje (?:note|prends note de|enregistre) (?:vos|tes|votre|ton|ta) \w+"
    r"|\bje (?:reviens|reviendrai) vers (?:vous|toi) avec\b"
    r"|\bpour mieux (?:vous|te) (?:connaître|aider|servir|comprendre)\b"
    r"|\bje vais (?:vous|te) poser (?:quelques|une|des|deux|trois|\d+)\b"
    r"|\bcréer (?:votre|ton) profil\b|^\W{0,3}bienvenue\b|\bbienvenue (?:chez|sur|dans)\b"
    r"|\bje (?:suis|reste) à (?:votre|ton|ta) (?:écoute|disposition|service)\b|\bsouhaitez-vous (?:que je|me)\b"
    r"|\bje (?:vous|te) (?:propose|trouve|trouverai|cherche) (?:des|un|une) (?:profils?|personnes?)\b"
    r"|\blet me know if you (?:have|need|want)\b|\bi(?:'ll| will) (?:find|look for) (?:a match|someone|somebody) for you\b"
    r"|\bi(?:'ve| have) (?:updated|processed|cancelled|created|registered) your\b"
    r"|\byou (?:will|'ll) (?:get|receive) (?:an email|a confirmation|a notification)\b"
    r"|\bpouvez-vous (?:me |nous )?(?:fournir|communiquer|préciser|indiquer) (?:votre|vos)\b"
    r"|\bje comprends votre (?:frustration|inquiétude|demande|préoccupation)"
    r"|\bmerci (?:de nous avoir|d'avoir) contactés?\b"
    r"|\bhow (?:can|may|could) i (?:help|assist|be of (?:help|assistance|service))\b"
    r"|\bwhat can i (?:help|assist) you with\b|\bi(?:'m| am) here to (?:help|assist)\b"
    r"|\bis there anything (?:else )?i can (?:help|assist) you with\b"
    r"|\bi(?:'d| would) be (?:happy|glad|delighted) to (?:help|assist)\b"
    r"|\bhere(?:'s| is) (?:a|the) (?:message|text|email|reply) (?:that )?you can send\b"
    r"|\bfeel free to ask me\b|^\W{0,3}great question\b"
    r"|\b(?:could|can|would) you (?:please )?(?:provide|share|confirm) (?:me with )?your (?!age range|price|prices|address)"
    r"|\bmay i have your\b|\bi understand your (?:frustration|concern)"
    r"|\bthank you for (?:contacting|reaching out|choosing|your patience)\b",
)
"""What only who serves says; over the folded text."""

_MACHINE = (
    r"(?:ia|intelligence artificielle|modèle de langage|assistante? virtuel(?:le)?|chatbot|programme informatique"
    r"|robot conversationnel)"
)
MODEL = re.compile(
    r"\b(?:as|i am|i'm) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model|chatbot|virtual assistant"
    r"|computer program|ai (?:language )?(?:model|assistant))\b"
    rf"|\b(?:je (?:ne )?suis|en tant qu[e'])(?: qu[e'])? ?(?:une? |un simple |une simple )?{_MACHINE}\b"
    r"|\ben tant que modèle\b|\b(?:can't|cannot|unable to) (?:generate|produce|create|write) \w+ content\b"
    r"|\bi was trained (?:by a company|by openai|by google|by anthropic|on (?:data|text))"
    r"|\b(?:no|any) personal (?:preferences|feelings|experiences)\b|\bi don't have (?:feelings|emotions|a physical)\b"
    r"|\b(?:cannot|can't|can not|unable to|won't|not able to) (?:role-?play|play (?:this|that|the) role|pretend to be"
    r"|impersonate|assume (?:this|the) (?:role|persona))"
    r"|\bne (?:peux|veux|saurais|pourrai) pas (?:jouer (?:ce|le|un) rôle|incarner|me faire passer pour|prétendre être)\b",
)
"""Over the folded text."""


def third_person(name: str) -> re.Pattern[str]:
    """The writer speaks of the persona instead of as the persona; over the folded text, the name folded too."""
    who = re.escape(name)
    return re.compile(
        rf"(?<!\w){who} (?:would|should|wants to|needs to|must|dirait|doit|devrait|répondrait|répondra|est (?:un|une|méfian|laconi|impatien|hostil|fragil|bavard))"
        rf"|\b(?:en tant que|as|comme) {who}(?!\w)(?:,| i\b| je\b)|(?<!\w){who}'s (?:character|persona|goal)\b"
        rf"|[(\[]{who} (?!et\b|and\b)\w"
    )
