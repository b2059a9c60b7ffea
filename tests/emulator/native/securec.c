/* SPDX-License-Identifier: Apache-2.0 */
/* libc_sec against the runtime-constraints of C11 Annex K, and against the statuses of its own
   header. */
#include <securec.h>
#include <stdint.h>

#include "expect.h"

#define HUGE_SIZE ((size_t)SECUREC_MEM_MAX_LEN + 1)

static int all(const char *bytes, size_t count, char value)
{
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != value)
            return 0;
    return 1;
}

static void memory(void)
{
    char a[8], b[8];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    EXPECT(memcpy_s(a, 8, b, 3) == EOK && memcmp(a, "bbbaaaaa", 8) == 0);
    EXPECT(memcpy_s(a, 8, b, 0) == EOK && memcmp(a, "bbbaaaaa", 8) == 0);
    EXPECT(memcpy_s(a, 8, a, 8) == EOK && memcmp(a, "bbbaaaaa", 8) == 0);
    EXPECT(memcpy_s(a, 4, b, 5) == ERANGE_AND_RESET && memcmp(a, "\0\0\0\0aaaa", 8) == 0);
    memset(a, 'a', sizeof a);
    EXPECT(memcpy_s(a, 8, NULL, 1) == EINVAL_AND_RESET && all(a, 8, 0));
    memset(a, 'a', sizeof a);
    EXPECT(memcpy_s(a, 8, a + 2, 3) == EOVERLAP_AND_RESET && all(a, 8, 0));
    memcpy(a, "01234567", 8);
    EXPECT(memcpy_s(a, 8, a + 4, 4) == EOK && memcmp(a, "45674567", 8) == 0);
    EXPECT(memcpy_s(a, 0, b, 1) == ERANGE && memcpy_s(a, HUGE_SIZE, b, 1) == ERANGE);
    EXPECT(memcpy_s(NULL, 8, b, 1) == EINVAL && memcmp(a, "45674567", 8) == 0);

    memcpy(a, "01234567", 8);
    EXPECT(memmove_s(a + 1, 7, a, 7) == EOK && memcmp(a, "00123456", 8) == 0);
    EXPECT(memmove_s(a, 8, b, 9) == ERANGE_AND_RESET && all(a, 8, 0));
    EXPECT(memmove_s(NULL, 8, b, 1) == EINVAL && memmove_s(a, 0, b, 0) == ERANGE);

    EXPECT(memset_s(a, 8, 'x', 4) == EOK && memcmp(a, "xxxx\0\0\0\0", 8) == 0);
    EXPECT(memset_s(a, 8, 'y', 9) == ERANGE_AND_RESET && all(a, 8, 'y'));
    EXPECT(memset_s(NULL, 8, 0, 1) == EINVAL && memset_s(a, HUGE_SIZE, 0, 1) == ERANGE);

    wchar_t wide[4] = L"abc", other[4] = L"xyz";
    EXPECT(wmemcpy_s(wide, 4, other, 2) == EOK && wcscmp(wide, L"xyc") == 0);
    EXPECT(wmemcpy_s(wide, 4, other, 5) == ERANGE_AND_RESET && wide[3] == 0 && wide[0] == 0);
    EXPECT(wmemcpy_s(wide, SECUREC_WCHAR_MEM_MAX_LEN + 1, other, 1) == ERANGE);
    EXPECT(wmemmove_s(other + 1, 3, other, 2) == EOK && wcscmp(other, L"xxy") == 0);
}

static void strings(void)
{
    char a[8] = "start";
    EXPECT(strcpy_s(a, 8, "seven77") == EOK && strcmp(a, "seven77") == 0);
    EXPECT(strcpy_s(a, 8, a) == EOK && strcmp(a, "seven77") == 0);
    EXPECT(strcpy_s(a, 8, "eight888") == ERANGE_AND_RESET && a[0] == 0 && a[1] == 'e');
    EXPECT(strcpy_s(a, 8, NULL) == EINVAL_AND_RESET && strcpy_s(NULL, 8, "x") == EINVAL);
    EXPECT(strcpy_s(a, 0, "x") == ERANGE && strcpy_s(a, HUGE_SIZE, "x") == ERANGE);
    EXPECT(strcpy_s(a, 8, "abc") == EOK);
    EXPECT(strcpy_s(a + 1, 7, a) == EOVERLAP_AND_RESET && a[0] == 'a' && a[1] == 0);

    EXPECT(strncpy_s(a, 8, "abcdefghij", 3) == EOK && strcmp(a, "abc") == 0);
    EXPECT(strncpy_s(a, 8, "ab", 7) == EOK && strcmp(a, "ab") == 0);
    EXPECT(strncpy_s(a, 8, "abcdefghij", 7) == EOK && strcmp(a, "abcdefg") == 0);
    EXPECT(strncpy_s(a, 8, "abcdefghij", 8) == ERANGE_AND_RESET && a[0] == 0);
    EXPECT(strncpy_s(a, 8, "x", 0) == EOK && a[0] == 0);
    EXPECT(strncpy_s(a, 8, "x", HUGE_SIZE) == ERANGE_AND_RESET);
    EXPECT(strncpy_s(a, 8, NULL, 1) == EINVAL_AND_RESET && strncpy_s(NULL, 8, "x", 1) == EINVAL);

    EXPECT(strcpy_s(a, 8, "abc") == EOK && strcat_s(a, 8, "defg") == EOK);
    EXPECT(strcmp(a, "abcdefg") == 0);
    EXPECT(strcat_s(a, 8, "h") == ERANGE_AND_RESET && a[0] == 0);
    memset(a, 'x', 8);
    EXPECT(strcat_s(a, 8, "h") == EINVAL_AND_RESET && a[0] == 0 && a[7] == 'x');
    EXPECT(strcpy_s(a, 8, "ab") == EOK && strcat_s(a, 8, a + 1) == EOVERLAP_AND_RESET);
    EXPECT(strcpy_s(a, 8, "ab") == EOK && strncat_s(a, 8, "cdefghijk", 5) == EOK);
    EXPECT(strcmp(a, "abcdefg") == 0 && strncat_s(a, 8, "hij", 0) == EOK);
    EXPECT(strncat_s(a, 8, "hij", 1) == ERANGE_AND_RESET && a[0] == 0);
    EXPECT(strcat_s(a, 8, NULL) == EINVAL_AND_RESET && strcat_s(a, 0, "x") == ERANGE);
    EXPECT(strncat_s(a, 8, "x", HUGE_SIZE) == ERANGE_AND_RESET);

    wchar_t wide[4];
    EXPECT(wcscpy_s(wide, 4, L"abc") == EOK && wcscmp(wide, L"abc") == 0);
    EXPECT(wcscpy_s(wide, 4, L"abcd") == ERANGE_AND_RESET && wide[0] == 0);
    EXPECT(wcsncpy_s(wide, 4, L"abcd", 2) == EOK && wcscat_s(wide, 4, L"x") == EOK);
    EXPECT(wcscmp(wide, L"abx") == 0 && wcsncat_s(wide, 4, L"yz", 1) == ERANGE_AND_RESET);

    char text[] = "one,,two", *rest = NULL;
    EXPECT(strcmp(strtok_s(text, ",", &rest), "one") == 0);
    EXPECT(strcmp(strtok_s(NULL, ",", &rest), "two") == 0);
    EXPECT(strtok_s(NULL, ",", &rest) == NULL && strtok_s(text, NULL, &rest) == NULL);
    rest = NULL;
    EXPECT(strtok_s(NULL, ",", &rest) == NULL && strtok_s(text, ",", NULL) == NULL);
    wchar_t words[] = L"a b", *wide_rest = NULL;
    EXPECT(wcscmp(wcstok_s(words, L" ", &wide_rest), L"a") == 0);
    EXPECT(wcscmp(wcstok_s(NULL, L" ", &wide_rest), L"b") == 0);
}

static void printing(void)
{
    char a[8] = "before";
    const char *volatile none = NULL;
    EXPECT(sprintf_s(a, 8, "%d-%s", 12, "abcd") == 7 && strcmp(a, "12-abcd") == 0);
    EXPECT(sprintf_s(a, 8, "%d-%s", 123, "abcd") == -1 && a[0] == 0);
    EXPECT(sprintf_s(NULL, 8, "x") == -1 && sprintf_s(a, 0, "x") == -1);
    EXPECT(strcpy_s(a, 8, "kept") == EOK && sprintf_s(a, HUGE_SIZE, "x") == -1 && a[0] == 'k');
    EXPECT(sprintf_s(a, 8, none) == -1 && a[0] == 0);
    EXPECT(sprintf_s(a, 8, "100%%n") == 5 && strcmp(a, "100%n") == 0);
    int count = 7;
    const char *volatile counting = "ab%-5.3hhn";
    EXPECT(sprintf_s(a, 8, counting, &count) == -1 && a[0] == 0 && count == 7);

    EXPECT(snprintf_s(a, 8, 7, "%s", "1234567") == 7 && strcmp(a, "1234567") == 0);
    EXPECT(snprintf_s(a, 8, 3, "%s", "1234567") == -1 && strcmp(a, "123") == 0);
    EXPECT(snprintf_s(a, 8, 8, "%s", "12345678") == -1 && a[0] == 0);
    EXPECT(snprintf_s(a, 8, SIZE_MAX, "%s", "123456789") == -1 && strcmp(a, "1234567") == 0);
    EXPECT(snprintf_s(a, 8, HUGE_SIZE, "x") == -1 && a[0] == 0);
    EXPECT(snprintf_truncated_s(a, 8, "%s", "123456789") == 7 && strcmp(a, "1234567") == 0);
    EXPECT(snprintf_truncated_s(a, 8, "%d", 5) == 1 && strcmp(a, "5") == 0);

    wchar_t wide[4];
    EXPECT(swprintf_s(wide, 4, L"%d", 123) == 3 && wcscmp(wide, L"123") == 0);
    EXPECT(swprintf_s(wide, 4, L"%d", 1234) == -1 && wide[0] == 0);
}

static void scanning(FILE *file)
{
    int number = 0, other = 0;
    char word[4] = "old", letters[2] = {'x', 'y'};
    EXPECT(sscanf_s("12 abc 5", "%d %s %d", &number, word, sizeof word, &other) == 3);
    EXPECT(number == 12 && strcmp(word, "abc") == 0 && other == 5);
    EXPECT(sscanf_s("12 abcd 7", "%d %s %d", &number, word, sizeof word, &other) == 1);
    EXPECT(word[0] == 0 && other == 5);
    EXPECT(sscanf_s("abcd", "%2s", word, sizeof word) == 1 && strcmp(word, "ab") == 0);
    EXPECT(sscanf_s("pq", "%2c", letters, sizeof letters) == 1 && letters[0] == 'p' &&
           letters[1] == 'q');
    EXPECT(sscanf_s("pqr", "%3c", letters, sizeof letters) == 0);
    EXPECT(sscanf_s("k=v;", "%*[^=]=%[^;];", word, sizeof word) == 1 && strcmp(word, "v") == 0);
    EXPECT(sscanf_s("a]", "%[]a]", word, sizeof word) == 1 && strcmp(word, "a]") == 0);
    EXPECT(sscanf_s("50% 3", "%d%% %i", &number, &other) == 2 && number == 50 && other == 3);
    EXPECT(sscanf_s("50", "x%d", &number) == 0 && sscanf_s("", "%d", &number) == EOF);
    EXPECT(sscanf_s("5", "%d%n", &number, &other) == 1 && other == 3);
    EXPECT(sscanf_s(NULL, "%d", &number) == EOF && sscanf_s("1", NULL) == EOF);

    EXPECT(fscanf_s(file, "%d%s", &number, word, sizeof word) == 2);
    EXPECT(number == 8 && strcmp(word, "nn") == 0);
}

static void wide_scanning(void)
{
    int number = 0, other = 0;
    wchar_t word[4] = L"old", letters[2] = {L'x', L'y'};
    char narrow[4] = "old";
    EXPECT(swscanf_s(L"12 abc 5", L"%d %ls %d", &number, word, (size_t)4, &other) == 3);
    EXPECT(number == 12 && wcscmp(word, L"abc") == 0 && other == 5);
    EXPECT(swscanf_s(L"12 abcd 7", L"%d %ls %d", &number, word, (size_t)4, &other) == 1);
    EXPECT(word[0] == 0 && other == 5);
    EXPECT(swscanf_s(L"abcd", L"%2ls", word, (size_t)4) == 1 && wcscmp(word, L"ab") == 0);
    EXPECT(swscanf_s(L"abc", L"%s", narrow, sizeof narrow) == 1 && strcmp(narrow, "abc") == 0);
    EXPECT(swscanf_s(L"abcd", L"%hs", narrow, sizeof narrow) == 0 && narrow[0] == 0);
    EXPECT(swscanf_s(L"pq", L"%2lc", letters, (size_t)2) == 1 && letters[0] == L'p' &&
           letters[1] == L'q');
    EXPECT(swscanf_s(L"pqr", L"%3lc", letters, (size_t)2) == 0);
    EXPECT(swscanf_s(L"k=v;", L"%*[^=]=%l[^;];", word, (size_t)4) == 1 && wcscmp(word, L"v") == 0);
    EXPECT(swscanf_s(L"50% 3", L"%d%% %i", &number, &other) == 2 && number == 50 && other == 3);
    EXPECT(swscanf_s(L"50", L"x%d", &number) == 0 && swscanf_s(L"", L"%d", &number) == EOF);
    EXPECT(swscanf_s(L"5", L"%d%n", &number, &other) == 1 && other == 3);
    EXPECT(swscanf_s(L"5", L"%ms", &number) == EOF);
    EXPECT(swscanf_s(NULL, L"%d", &number) == EOF && swscanf_s(L"1", NULL) == EOF);
    EXPECT(swscanf_s(L"a", L"%ls", NULL, (size_t)4) == 0);
    EXPECT(swscanf_s(L"a", L"%ls", word, (size_t)0) == 0);

    /* wide characters from bytes, and the names that POSIX has for them */
    EXPECT(sscanf_s("abc", "%ls", word, (size_t)4) == 1 && wcscmp(word, L"abc") == 0);
    EXPECT(sscanf_s("abcd", "%S", word, (size_t)4) == 0 && word[0] == 0);
    EXPECT(sscanf_s("xy", "%2C", letters, (size_t)2) == 1 && letters[1] == L'y');

    FILE *file = tmpfile();
    EXPECT(file != NULL && fputws(L"8 nn 9", file) >= 0);
    rewind(file);
    EXPECT(fwscanf_s(file, L"%d%ls", &number, word, (size_t)4) == 2);
    EXPECT(number == 8 && wcscmp(word, L"nn") == 0);
    EXPECT(fwscanf_s(file, L"%d", &other) == 1 && other == 9);
    EXPECT(fwscanf_s(file, L"%d", &other) == EOF && fwscanf_s(NULL, L"%d", &other) == EOF);
    fclose(file);
    EXPECT(wscanf_s(NULL) == EOF);
}

int main(void)
{
    wide_scanning();
    memory();
    strings();
    printing();
    FILE *file = tmpfile();
    EXPECT(file != NULL && fputs("8 nn", file) >= 0);
    rewind(file);
    scanning(file);
    fclose(file);

    /* standard input is a file of three lines */
    char line[6];
    file = tmpfile();
    EXPECT(file != NULL && fputs("first\nlonger\n\nlast", file) >= 0);
    rewind(file);
    stdin = file;
    EXPECT(gets_s(line, sizeof line) == line && strcmp(line, "first") == 0);
    EXPECT(gets_s(line, sizeof line) == NULL && line[0] == 0);
    EXPECT(gets_s(line, sizeof line) == line && line[0] == 0);
    EXPECT(gets_s(line, sizeof line) == line && strcmp(line, "last") == 0);
    EXPECT(gets_s(line, sizeof line) == NULL && gets_s(NULL, 5) == NULL);
    fclose(file);
    return 0;
}
