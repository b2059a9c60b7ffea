/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Opens C linkage; included once for each c_end.h, so it has no guard. */
#ifdef __cplusplus
extern "C" {
#endif
