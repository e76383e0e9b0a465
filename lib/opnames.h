/* opnames: the names in a manifest, against what there is. */
#ifndef CTS_OPNAMES_H
#define CTS_OPNAMES_H

#include "inventory.h"
#include "manifest.h"

/*
 * Warn of ops that the manifest names and PyTorch does not have, with the
 * nearest one that it has: in skip_ops, must_not_fall_back and
 * tolerance_overrides, whose keys may name a category of the budgets too; of
 * regexes for ops that match none, there, in supported_ops and in claims; and
 * of dtypes that are claimed and that it does not have.
 */
void opnames_warn(const struct manifest *m, const struct inventory *inv);

#endif
