"""A stub of a target: a café that takes one order in a chat. Put your own agent in its place.

Only `handle` is needed. `dispatch` lets scenarios send events, `state` lets them look inside,
`tools` are the names of the tools that expectations may speak of.
"""

DRINKS = ("espresso", "latte", "tea")


class Cafe:
    """The adapter: one object for the whole run, one `session` for each conversation."""

    tools = ("place_order", "cancel_order")

    def __init__(self):
        self._orders = {}

    async def open(self, session):
        """Before a conversation: arrange what the scenario says under `given.state`."""
        self._orders[session.id] = dict(session.given)

    async def handle(self, session, inbound):
        """A user's message: show tool calls, and say something."""
        order = self._orders[session.id]
        text = inbound.text.lower()
        drink = next((d for d in DRINKS if d in text), None)
        if "cancel" in text and order.get("drink"):
            session.tool("cancel_order", {"drink": order.pop("drink")})
            session.emit("cancelled, no worries. come by any time.")
        elif drink:
            order["drink"] = drink
            session.tool("place_order", {"drink": drink})
            session.emit(f"one {drink}, ready in five minutes. i will write when it is at the counter.")
        else:
            session.emit("we have espresso, latte and tea. which one would you like?")

    async def dispatch(self, session, event):
        """Something happened in the product, and the agent speaks first (or stays silent)."""
        drink = self._orders[session.id].get("drink")
        if event.name == "order_ready" and drink:
            session.emit(f"your {drink} is at the counter.")

    async def state(self, session):
        """What scenarios can expect under `state`."""
        return {"drink": self._orders[session.id].get("drink")}

    async def close(self, session):
        """After a conversation, whatever happened in it."""
        self._orders.pop(session.id, None)
