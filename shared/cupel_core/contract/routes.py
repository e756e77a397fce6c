"""What is known of an operation before its module is loaded."""

from dataclasses import dataclass, field

from cupel_core.domain.access import AccessRole

OPENAI_PREFIX = "/openai/v1"


@dataclass(frozen=True, slots=True)
class Route:
    """What is known of an operation before its module is loaded. A path parameter is written `{name}`."""

    id: str
    method: str
    path: str
    minimum_role: AccessRole | None
    module: str
    """The name of the module that declares it, below `cupel_core`."""
    is_for_labellers: bool = field(default=False, kw_only=True)
    """If true, labellers may call the operation, too."""

    @property
    def is_public(self) -> bool:
        return self.minimum_role is None

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def is_of_openai(self) -> bool:
        """Return whether the operation has the contract of OpenAI's API."""
        return self.path.startswith(OPENAI_PREFIX)

    @property
    def path_names(self) -> list[str]:
        """The names of the path's parameters, in order."""
        return [each[1:-1] for each in self.path.split("/") if each.startswith("{")]

    def permits(self, role: AccessRole) -> bool:
        """Return whether a caller with this role may call the operation."""
        is_labeller = self.is_for_labellers and role is AccessRole.LABELLER
        return self.minimum_role is None or is_labeller or role.includes(self.minimum_role)

    def serves(self, segments: list[str]) -> bool:
        """Return whether a request path, split at `/`, matches the path of this operation."""
        own = self.path.split("/")
        return len(own) == len(segments) and all(
            segment if expected.startswith("{") else expected == segment
            for expected, segment in zip(own, segments, strict=True)
        )

    def objects_in(self, path: str) -> list[str]:
        """The paths of the objects that the path of a request names, from the outermost one."""
        segments = path.split("/")
        named = (number for number, each in enumerate(self.path.split("/"), 1) if each.startswith("{"))
        return ["/".join(segments[:number]) for number in named]

    def parameters(self, path: str) -> dict[str, str]:
        """The values of its path parameters in the path of a request that it serves."""
        pairs = zip(self.path.split("/"), path.split("/"), strict=True)
        return {expected[1:-1]: segment for expected, segment in pairs if expected.startswith("{")}
