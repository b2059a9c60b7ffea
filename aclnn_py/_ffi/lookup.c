/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the generated tables. Included by the generated extension source. */

static int compare_op(const void *key, const void *op)
{
    return strcmp(key, ((const ap_op *)op)->name);
}

uint32_t ap_op_count(void)
{
    return AP_OPS;
}

ap_op *ap_op_at(uint32_t index)
{
    return index < AP_OPS ? &ap_ops[index] : NULL;
}

ap_op *ap_op_find(const char *name)
{
    return bsearch(name, ap_ops, AP_OPS, sizeof ap_ops[0], compare_op);
}

ap_op *ap_op_find_c(const char *c_name)
{
    for (uint32_t i = 0; i < AP_OPS; ++i)
        if (!strcmp(ap_ops[i].c_name, c_name))
            return &ap_ops[i];
    return NULL;
}

ap_invoker ap_invoker_for(const char *shape)
{
    for (uint32_t i = 0; i < AP_INVOKERS; ++i)
        if (!strcmp(ap_invokers[i].shape, shape))
            return ap_invokers[i].invoke;
    return NULL;
}

ap_invoker ap_trampoline_for(const char *shape)
{
    return trampoline_takes(shape) ? trampoline : NULL;
}

static int compare_slot(const void *key, const void *name)
{
    return strcmp(key, *(const char *const *)name);
}

int32_t ap_slot_find(const char *name)
{
    const char *const *found =
        bsearch(name, ap_slot_names, AP_SLOTS, sizeof ap_slot_names[0], compare_slot);
    return found ? (int32_t)(found - ap_slot_names) : -1;
}

uint32_t ap_slot_count(void)
{
    return AP_SLOTS;
}

const char *ap_slot_name(uint32_t index)
{
    return index < AP_SLOTS ? ap_slot_names[index] : NULL;
}

void ap_slot_set(uint32_t index, void *function)
{
    if (index < AP_SLOTS)
        ap_slots[index] = function;
}

void *ap_slot_get(uint32_t index)
{
    return index < AP_SLOTS ? ap_slots[index] : NULL;
}

const char *ap_slot_since(uint32_t index)
{
    return index < AP_SLOTS ? ap_slot_sinces[index] : "";
}

void *ap_library_open(const char *path, char *error, size_t error_nbytes)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(error, error_nbytes, "%s", text ? text : "");
    }
    return handle;
}

void *ap_library_loaded(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

void *ap_library_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void ap_library_path(void *handle, char *path, size_t path_nbytes)
{
    struct link_map *map = NULL;
    path[0] = 0;
    if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map)
        snprintf(path, path_nbytes, "%s", map->l_name);
}

void ap_symbol_path(void *symbol, char *path, size_t path_nbytes)
{
    Dl_info info;
    path[0] = 0;
    if (dladdr(symbol, &info) && info.dli_fname)
        snprintf(path, path_nbytes, "%s", info.dli_fname);
}
