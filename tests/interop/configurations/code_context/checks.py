def get_assert(output, context):
    test = context["test"]
    kinds = [entry["type"] for entry in test["assert"]]
    return {"pass": kinds == ["icontains", "python", "contains"], "score": len(kinds) / 4, "reason": str(kinds)}
