def get_assert(output, context):
    return context["test"]["options"]["prefix"] + "say"
