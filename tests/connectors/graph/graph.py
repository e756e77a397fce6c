"""An agent without a model: it counts the messages it receives and repeats them, calls a tool, or fails."""

import asyncio

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

TOKENS = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


class State(MessagesState):
    heard: int


async def speak(state: State) -> dict[str, object]:
    text = str(state["messages"][-1].content)
    heard = sum(message.type == "human" for message in state["messages"])
    if text == "fail":
        raise ValueError("requested failure")
    if text == "ask":
        interrupt("may I?")
    if text == "think":
        await asyncio.sleep(3)
    answer = AIMessage(f"{heard}: {text}", usage_metadata=TOKENS, response_metadata={"model_name": "no-model"})
    return {"messages": [*tool_messages(text), answer], "heard": heard}


def tool_messages(text: str) -> list[AIMessage | ToolMessage]:
    if text != "look up":
        return []
    call = {"name": "look_up", "args": {}, "id": "call-1"}
    return [AIMessage("", tool_calls=[call], usage_metadata=TOKENS), ToolMessage("found", tool_call_id="call-1")]


graph = StateGraph(State).add_node(speak).add_edge(START, "speak").compile()
