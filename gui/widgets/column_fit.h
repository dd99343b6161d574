// SPDX-License-Identifier: GPL-3.0-or-later
// Columns as wide as what stands in them, one of them taking the rest. They only grow, so that a figure that changes
// does not make the table jump.
// Threads: GUI thread.
#pragma once

class QTableView;

namespace larder::gui {

void stretchColumn(QTableView& table, int stretched);
// After rows came or changed; a hidden column and the stretched one stay as they are.
void growColumns(QTableView& table);

}  // namespace larder::gui
