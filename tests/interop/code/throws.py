def get_assert(output, context):
    raise ValueError("no")


def other(output, context):
    return output["a"]
