# Laws whose points all have norm 1; others may have a parameter `norm`.
UNIT_LAWS = ("sphere", "anisotropic_sphere")
