"""Messages that only close a conversation, in French and English, and those that do not."""

from __future__ import annotations

import pytest

from evalrun.goodbyes import closing


@pytest.mark.parametrize(
    "text",
    [
        "avec plaisir, bonne journée !",
        "merci beaucoup, à vous aussi !",
        "Merci beaucoup pour votre aide, au revoir 👋",
        "Merci Ori, à bientôt !",
        "De rien, bon week-end à toi aussi",
        "C’est parfait, merci. Bonne soirée !",
        "Thanks a lot, bye!",
        "Thank you so much for your help. Have a great day!",
        "You're welcome, take care!",
        "you too, see you soon",
        "ok thanks",
        "je vous en prie, bonne fin de journée",
    ],
)
def test_b12_a_goodbye_is_closing(text: str) -> None:
    """Thanks and goodbyes with nothing else in them."""
    assert closing(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "merci, et c'est combien ?",
        "Merci beaucoup, je voudrais aussi relancer un devis",
        "ok",
        "oui",
        "d'accord",
        "bonjour",
        "salut",
        "bye the way, j'ai encore une chose à dire sur mon profil",
        "merci, rendez-vous à 18h",
        "Thanks, I live in Leeds and work nights",
        "thank you for asking, my budget is about forty pounds",
        "",
        "Have you a good day in mind for the meeting",
        "mercier",
    ],
)
def test_b12_anything_more_is_not_closing(text: str) -> None:
    """A question, a figure or something told keeps the conversation open; so does a bare yes."""
    assert closing(text) is False
