"""A real model behind the loopback server that speaks Ollama's API."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from memory.ports import ChatMessage, ChatModel, ChatRequest, ChatRole, Embedder
from tests.wire.ollama_server import Body, ServedModel


class ModelBackend:
    """Answers with a ChatModel and an Embedder of ours, whatever they are."""

    def __init__(self, chat: ChatModel, embedder: Embedder | None = None) -> None:
        self.models: Sequence[ServedModel] = (
            ServedModel(capabilities=("completion",), context_tokens=2048),
        )
        self._chat = chat
        self._embedder = embedder

    async def chat(self, body: Body) -> AsyncIterator[Body]:
        options = body.get("options", {})
        schema = body.get("format")
        request = ChatRequest(
            messages=tuple(
                ChatMessage(role=ChatRole(message["role"]), text=message.get("content", ""))
                for message in body["messages"]
            ),
            schema=schema if isinstance(schema, dict) else None,
            max_tokens=limit if (limit := options.get("num_predict", -1)) > 0 else None,
            temperature=options.get("temperature"),
        )
        async with aclosing(self._chat.stream(request)) as chunks:
            async for chunk in chunks:
                if chunk.done is None:
                    yield {"content": chunk.text}
                else:
                    whole = chunk.done
        yield {
            "done_reason": whole.finish.value,
            "prompt_eval_count": whole.prompt_tokens,
            "eval_count": whole.reply_tokens,
        }

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return (await self._embedder.embed(texts)).tolist()
