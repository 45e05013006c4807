# SPDX-License-Identifier: GPL-2.0-or-later
# The guests walk what tests/live builds; what lacks its compiler is left out there, too.

kernel-programs: $(addprefix $(BUILD)/tests/frames/,nest signals realign)
