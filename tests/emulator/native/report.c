/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the settings of the emulator made of the devices. */
#include "expect.h"

int main(void)
{
    uint32_t count = 0;
    size_t free_bytes = 0, total = 0;
    int64_t cubes = 0;
    char runtime[] = "runtime", version[128] = "";
    const int status = aclrtGetDeviceCount(&count);
    printf("status=%d\ncount=%u\nsoc=%s\n", status, count, aclrtGetSocName());
    EXPECT_OK(aclsysGetVersionStr(runtime, version));
    printf("cann=%s\n", version);
    if (status != 0)
        return 0;
    int32_t physical = -1;
    EXPECT_OK(aclrtSetDevice((int32_t)count - 1));
    EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    EXPECT_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cubes));
    EXPECT_OK(aclrtGetPhyDevIdByLogicDevId((int32_t)count - 1, &physical));
    printf("total=%zu\ncubes=%d\nlast=%d\n", total, (int)cubes, physical);
    return 0;
}
