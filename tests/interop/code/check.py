def get_assert(output, context):
    return {"pass_": True, "score": len(output) / 8, "reason": context["vars"]["answer"]}


class Checks:
    @staticmethod
    def is_long(output, _context):
        return len(output) > 10


def score(metrics, context):
    passed = sum(result["pass"] for result in context["componentResults"])
    return {"pass": passed == 1, "score": metrics["color"] / 2, "reason": f"{passed} passed"}
