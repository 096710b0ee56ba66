"""What the learners that are quadratic DenseNets, or are trained like them, say of themselves.

Read without importing, as all literals of components are, so that a study is checked before anything is loaded.
"""

from hierlearn.learners._selection import DIVERGED

# Points of the training and validation sets that a trace looks at.
TRACED_POINTS = 1000
# What the network is, and when its layers come.
STUDENT = {
    "depth": {
        "description": "Number L of layers, x being none; null: the teacher's, or 3.",
        "type": ["integer", "null"],
        "minimum": 2,
        "maximum": 6,
        "default": None,
    },
    "graph": {
        "description": "J_2 .. J_L, the layers that each layer sees, 0 being x and 1 its centred squares; null: the "
        "teacher's, or [0, 1], then [0, l - 1].",
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        "minItems": 1,
        "default": None,
    },
    "alphas": {
        "description": "alpha_2 .. alpha_L; null: powers of the gap.",
        "type": ["array", "null"],
        "items": {"type": "number", "minimum": 0},
        "minItems": 1,
        "default": None,
    },
    "gap": {
        "description": "alpha_{l+1} / alpha_l where `alphas` is null; null: the teacher's alphas, or 0.2.",
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "default": None,
    },
    "width": {"description": "Number m of neurons per layer.", "type": "integer", "minimum": 1, "default": 24},
    "starts": {
        "description": "Parts of the training after which layers 3 .. L come at the latest; null: evenly spread.",
        "type": ["array", "null"],
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "default": None,
    },
}
# How it is trained.
TRAINING = {
    "annealing": {
        "description": "cosine: the rate falls to 0 by the planned end of a phase and is restored with the next one.",
        "enum": ["cosine", "constant"],
        "default": "cosine",
    },
    "optimiser": {"description": "Rule of the steps.", "enum": ["sgd", "adam"], "default": "adam"},
    "momentum": {
        "description": "Momentum of sgd.",
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.9,
    },
    "clip": {
        "description": "Largest norm of a gradient; null: none.",
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "default": 1.0,
    },
    "sharpness": {
        "description": "v of the logistic loss log(1 + exp(-v y (x_0 + F))), for classes.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 10.0,
    },
    "batch": {"description": "Points per step.", "type": "integer", "minimum": 1, "default": 128},
    "epochs": {"description": "Passes over the training points.", "type": "integer", "minimum": 1, "default": 100},
    "steps": {
        "description": "Steps, in place of epochs.",
        "type": ["integer", "null"],
        "minimum": 1,
        "default": None,
    },
    "online": {
        "description": "One pass over fresh points: the number of samples is steps times batch.",
        "type": "boolean",
        "default": False,
    },
}
RATES = {
    "rate": {"description": "Rate of the steps.", "type": "number", "exclusiveMinimum": 0},
    "decay": {"description": "Weight decay.", "type": "number", "minimum": 0, "default": 0.0},
}
SEARCH = {
    "gap": {
        "description": "alpha_{l+1} / alpha_l, in place of what the parameters say.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": None,
    },
    "graph": {
        "description": "Layers that layer l sees: skip, 0 and l - 1; chain, l - 1 alone; dense, all before it; own: "
        "what the parameters say.",
        "enum": ["own", "skip", "chain", "dense"],
        "default": "own",
    },
}
# Measured at the end, and along the training.
LOOKED_AT = {
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "risk_layer_2": "validation_risk of the layers up to 2 alone",
    "risk_layer_3": "validation_risk of the layers up to 3 alone",
    "risk_layer_4": "validation_risk of the layers up to 4 alone",
    "feature_error_2": "min_U E|U S_2 - S*_2|^2 / E|S*_2|^2, U with orthonormal rows, on validation points",
    "feature_error_3": "min_U E|U S_3 - S*_3|^2 / E|S*_3|^2, U with orthonormal rows, on validation points",
    "feature_error_4": "min_U E|U S_4 - S*_4|^2 / E|S*_4|^2, U with orthonormal rows, on validation points",
    "linear_feature_error_2": "min_B E|B S_2 - S*_2|^2 / E|S*_2|^2, any B, on validation points",
    "linear_feature_error_3": "min_B E|B S_3 - S*_3|^2 / E|S*_3|^2, any B, on validation points",
    "linear_feature_error_4": "min_B E|B S_4 - S*_4|^2 / E|S*_4|^2, any B, on validation points",
    "feature_size_2": "E|S_2|^2 on validation points",
    "feature_size_3": "E|S_3|^2 on validation points",
    "feature_size_4": "E|S_4|^2 on validation points",
}
LAYER_MEASURES = {
    **LOOKED_AT,
    **DIVERGED,
    "start_2": "step at which layer 2 came",
    "start_3": "step at which layer 3 came",
    "start_4": "step at which layer 4 came",
    "feature_error_2_before": "feature_error_2 when the layer above came, or would have come",
    "feature_error_3_before": "feature_error_3 when the layer above came, or would have come",
    "linear_feature_error_2_before": "linear_feature_error_2 when the layer above came, or would have come",
    "linear_feature_error_3_before": "linear_feature_error_3 when the layer above came, or would have come",
}
LAYER_TRACES = {
    **LOOKED_AT,
    "train_loss": f"squared error on at most {TRACED_POINTS} training points; classes: error rate",
    "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
}
# Weights, Adam's memory and activations of every setting of one seed.
BYTES = (
    (10, "choices", "width", "dimension"),
    (10, "choices", "width", "width"),
    (8, "choices", "batch", "width"),
    (4, "choices", TRACED_POINTS, "width"),
    (2, "choices", TRACED_POINTS, "dimension"),
    (2, "samples", "dimension"),
)
LAYER_MEMORY = {
    "fit": BYTES,
    "model": ((2, "width", "dimension"), (3, "width", "width")),
    "predict": ((4, 512, "width"), (2, 512, "dimension")),
}
LAYER_WORK = {
    "fit": (
        (24, "choices", "presented", "width", "dimension"),
        (12, "choices", "presented", "width", "width"),
    ),
    "predict": ((8, "test", "width", "dimension"), (4, "test", "width", "width")),
}
