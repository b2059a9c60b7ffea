/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Closes what c_begin.h opened. */
#ifdef __cplusplus
}
#endif
