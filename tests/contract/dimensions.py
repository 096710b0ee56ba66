"""Laws of x that have one dimension only, with their defaults."""

DIMENSIONS = {
    "random_hierarchy": 16,
    "full_hierarchy": 16,
    "hidden_bits": 32,
    "digits": 64,
    "shifted_digits": 196,
    "cifar": 48,
}
