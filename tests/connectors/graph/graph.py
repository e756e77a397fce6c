"""An agent without a model: it counts what it hears and says it back, looks up what it is asked to, or fails."""

import asyncio

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

TOKENS = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


class State(MessagesState):
    heard: int


async def speak(state: State) -> dict[str, object]:
    said = str(state["messages"][-1].content)
    heard = sum(message.type == "human" for message in state["messages"])
    if said == "fail":
        raise ValueError("told to fail")
    if said == "ask":
        interrupt("may I?")
    if said == "think":
        await asyncio.sleep(3)
    answer = AIMessage(f"{heard}: {said}", usage_metadata=TOKENS, response_metadata={"model_name": "no-model"})
    return {"messages": [*looked_up(said), answer], "heard": heard}


def looked_up(said: str) -> list[AIMessage | ToolMessage]:
    if said != "look up":
        return []
    call = {"name": "look_up", "args": {}, "id": "call-1"}
    return [AIMessage("", tool_calls=[call], usage_metadata=TOKENS), ToolMessage("found", tool_call_id="call-1")]


graph = StateGraph(State).add_node(speak).add_edge(START, "speak").compile()
