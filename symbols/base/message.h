/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_MESSAGE_H
#define STACKTOP_SYMBOLS_BASE_MESSAGE_H

/* How much a message for the user matters. */
enum message_level { MESSAGE_INFO, MESSAGE_WARNING, MESSAGE_ERROR };

#endif
