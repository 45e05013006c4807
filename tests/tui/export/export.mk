# SPDX-License-Identifier: GPL-2.0-or-later

# What is embedded by .incbin is unknown to -MMD.
$(BUILD)/tui/export/export_svg.o: tui/export/flame.js
