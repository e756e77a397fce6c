def get_transform(output, context):
    return output + "!"


def other(output, context):
    return output + context["vars"]["answer"]
