/* SPDX-License-Identifier: Apache-2.0 */
/* What the library's exception callback tells. It comes on a thread of the library, where no Python
   may run: the numbers are kept here until a wait that failed asks for them. */

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static ap_fault faults[AP_FAULTS];
static uint64_t fault_count;

static void note_fault(aclrtExceptionInfo *info)
{
    ap_fault fault = {
        .task = aclrtGetTaskIdFromExceptionInfo(info),
        .stream = aclrtGetStreamIdFromExceptionInfo(info),
        .device = aclrtGetDeviceIdFromExceptionInfo(info),
        .code = aclrtGetErrorCodeFromExceptionInfo(info),
    };
    pthread_mutex_lock(&fault_lock);
    faults[fault_count++ % AP_FAULTS] = fault;
    pthread_mutex_unlock(&fault_lock);
}

int32_t ap_watch_faults(int32_t several)
{
    return several ? aclrtExceptionInfoCallbackRegister(note_fault)
                   : aclrtSetExceptionInfoCallback(note_fault);
}

uint32_t ap_recent_faults(ap_fault *out)
{
    pthread_mutex_lock(&fault_lock);
    uint32_t count = fault_count < AP_FAULTS ? (uint32_t)fault_count : AP_FAULTS;
    for (uint32_t i = 0; i < count; ++i)
        out[i] = faults[(fault_count - count + i) % AP_FAULTS];
    pthread_mutex_unlock(&fault_lock);
    return count;
}
