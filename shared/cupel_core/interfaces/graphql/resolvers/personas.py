from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Transcript.persona", "getPersona")
async def transcript_persona(request: Request, source: Loaded) -> Loaded | None:
    if source["personaId"] is None:
        return None
    found: Loaded | None = await request.load.persona.load(source["personaId"])
    return found
