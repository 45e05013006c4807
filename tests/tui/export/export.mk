# SPDX-License-Identifier: GPL-2.0-or-later

# -MMD does not see what .incbin embeds.
$(BUILD)/tui/export/export_svg.o: tui/export/flame.js
