/* SPDX-License-Identifier: Apache-2.0 */
/* Initialization, versions and messages, from C11. */
#include "expect.h"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    fputs(text, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    char path[1024], deep[128] = "";
    EXPECT(argc == 2);

    EXPECT_CODE(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    snprintf(path, sizeof path, "%s/absent.json", argv[1]);
    EXPECT_CODE(ACL_ERROR_INVALID_FILE, aclInit(path));
    snprintf(path, sizeof path, "%s/bad.json", argv[1]);
    write_file(path, "{\"dump\": ");
    EXPECT_CODE(ACL_ERROR_PARSE_FILE, aclInit(path));
    for (int i = 0; i < 11; ++i)
        strcat(deep, "{\"a\":");
    strcat(deep, "1");
    for (int i = 0; i < 11; ++i)
        strcat(deep, "}");
    write_file(path, deep);
    EXPECT_CODE(ACL_ERROR_PARSE_FILE, aclInit(path));
    write_file(path, "{\"err_msg_mode\": \"2\"}");
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclInit(path));
    write_file(path,
               "{\"dump\": {\"dump_scene\": \"lite_exception\"}, \"list\": [1, -2.5e3, null, true, "
               "\"x\\\"y\"]}");
    EXPECT_OK(aclnnInit(path));
    write_file(path, "{}");
    EXPECT_OK(aclInit(path));

    EXPECT_CODE(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    uint64_t references = 99;
    EXPECT_OK(aclFinalizeReference(&references));
    EXPECT(references == 1);
    EXPECT_OK(aclFinalizeReference(&references));
    EXPECT(references == 0);
    EXPECT_CODE(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&references));
    EXPECT_OK(aclInit(NULL)); /* again after the end is legal */

    int32_t major = 0, minor = 0, patch = -1;
    EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
    EXPECT(major == ACL_MAJOR_VERSION && minor == ACL_MINOR_VERSION && patch == ACL_PATCH_VERSION);
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(NULL, &minor, &patch));

    char runtime[] = "runtime", unknown[] = "no-such-package", text[128] = "";
    int32_t number = 0;
    EXPECT_OK(aclsysGetVersionStr(runtime, text));
    EXPECT(strcmp(text, "8.5.0") == 0);
    EXPECT_OK(aclsysGetVersionNum(runtime, &number));
    EXPECT(number == 80500000);
    EXPECT_CODE(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(unknown, text));
    const char *const packages[] = {"ops_math",        "ops_nn",     "ops_cv",
                                    "ops_transformer", "ops_legacy", "ops-legacy"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; ++i) {
        char name[32], version_text[128] = "";
        snprintf(name, sizeof name, "%s", packages[i]);
        EXPECT_OK(aclsysGetVersionStr(name, version_text));
        EXPECT(strcmp(version_text, "8.5.0") == 0);
        EXPECT_OK(aclsysGetVersionNum(name, &number));
    }

    /* What a program may ask for is told, and stands behind no later error. */
    EXPECT(aclInit(NULL) == ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclsysGetVersionStr(unknown, text) == ACL_ERROR_INVALID_FILE);
    EXPECT(aclrtFree(NULL) == ACL_ERROR_INVALID_PARAM);
    const char *last = aclGetRecentErrMsg();
    EXPECT(last != NULL && strstr(last, "aclrtFree") != NULL && strchr(last, '\n') == NULL);
    EXPECT(aclGetRecentErrMsg() == NULL);
    EXPECT(aclsysGetVersionStr(unknown, text) == ACL_ERROR_INVALID_FILE);
    last = aclGetRecentErrMsg();
    EXPECT(last != NULL && strstr(last, "no-such-package") != NULL);
    aclCANNPackageVersion version;
    EXPECT_OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    EXPECT(strcmp(version.version, "8.5.0") == 0 && strcmp(version.majorVersion, "8") == 0);
    EXPECT(strcmp(version.minorVersion, "5") == 0);
    EXPECT(strcmp(aclrtGetSocName(), "Ascend910B1") == 0);

    /* Messages: newest first, handed out once, null when nothing is pending. */
    EXPECT(aclGetRecentErrMsg() == NULL);
    EXPECT(aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtFree(NULL) == ACL_ERROR_INVALID_PARAM);
    const char *message = aclGetRecentErrMsg();
    EXPECT(message != NULL && strncmp(message, "EH0001", 6) == 0);
    EXPECT(strstr(message, "aclrtFree") < strstr(message, "aclrtSetDevice"));
    EXPECT(aclGetRecentErrMsg() == NULL);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == 0);

    aclAppLog(ACL_INFO, "main", "init.c", 1, "%s", "text");
    EXPECT_OK(aclnnFinalize());
    EXPECT_OK(aclFinalize());
    EXPECT_CODE(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    return 0;
}
