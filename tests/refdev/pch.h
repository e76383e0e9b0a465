/* Precompiled: what every file of the reference device needs. */
#ifndef REFDEV_PCH_H
#define REFDEV_PCH_H

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
#include <torch/version.h>

/* True from PyTorch 2.n on. */
#define TORCH_FROM(n) (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= (n))

#endif
