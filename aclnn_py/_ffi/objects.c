/* SPDX-License-Identifier: Apache-2.0 */
/* The library's objects for the arguments of a launch: made before phase one, destroyed after phase
   two. Included by launch.c. */

#define AP_LIST_ON_STACK 64

double ap_describe(ap_tensor *tensor, const ap_layout *layout, uint64_t address, int64_t offset,
                   ap_use *use)
{
    *tensor = (ap_tensor){layout, (void *)(uintptr_t)address, offset, use};
    return (double)(intptr_t)tensor;
}

static aclTensor *create_tensor(const ap_tensor *tensor)
{
    const ap_layout *l = tensor->layout;
    return aclCreateTensor(l->shape, l->ndim, (aclDataType)l->dtype, l->strides, tensor->offset,
                           (aclFormat)l->format, l->storage, l->storage_ndim, tensor->address);
}

/* Destroying a list destroys its members, so members are destroyed here only when no list came to
   own them. */
static int32_t create_tensor_list(ap_tensor **tensors, uint64_t count, int32_t parameter,
                                  void **object)
{
    aclTensor *small[AP_LIST_ON_STACK];
    aclTensor **members = count <= AP_LIST_ON_STACK ? small : malloc(count * sizeof *members);
    int32_t code = AP_OK;
    uint64_t made = 0;
    if (!members)
        return refuse(AP_REASON_NO_MEMORY, parameter, -1);
    for (; made < count; ++made) {
        members[made] = tensors[made] ? create_tensor(tensors[made]) : NULL;
        if (tensors[made] && !members[made]) {
            code = fail(AP_PHASE_CREATE, 0, "aclCreateTensor", parameter, (int32_t)made);
            break;
        }
    }
    if (code == AP_OK) {
        *object = aclCreateTensorList((const aclTensor *const *)members, count);
        if (!*object)
            code = fail(AP_PHASE_CREATE, 0, "aclCreateTensorList", parameter, -1);
    }
    if (code != AP_OK)
        while (made--)
            aclDestroyTensor(members[made]);
    if (members != small)
        free(members);
    return code;
}

static int32_t create_scalar_list(const ap_scalar *values, uint64_t count, int32_t parameter,
                                  void **object)
{
    aclScalar *small[AP_LIST_ON_STACK];
    aclScalar **members = count <= AP_LIST_ON_STACK ? small : malloc(count * sizeof *members);
    int32_t code = AP_OK;
    uint64_t made = 0;
    if (!members)
        return refuse(AP_REASON_NO_MEMORY, parameter, -1);
    for (; made < count; ++made) {
        members[made] =
            aclCreateScalar((void *)values[made].bytes, (aclDataType)values[made].dtype);
        if (!members[made]) {
            code = fail(AP_PHASE_CREATE, 0, "aclCreateScalar", parameter, (int32_t)made);
            break;
        }
    }
    if (code == AP_OK) {
        *object = aclCreateScalarList((const aclScalar *const *)members, count);
        if (!*object)
            code = fail(AP_PHASE_CREATE, 0, "aclCreateScalarList", parameter, -1);
    }
    if (code != AP_OK)
        while (made--)
            aclDestroyScalar(members[made]);
    if (members != small)
        free(members);
    return code;
}

/* A scalar or an array: *routine names what was called. */
static void *create_value(const ap_argument *argument, const char **routine)
{
    const ap_scalar *scalar = argument->data;
    switch (argument->kind) {
    case AP_SCALAR:
        *routine = "aclCreateScalar";
        return aclCreateScalar((void *)scalar->bytes, (aclDataType)scalar->dtype);
    case AP_INT_ARRAY:
        *routine = "aclCreateIntArray";
        return aclCreateIntArray(argument->data, argument->count);
    case AP_FLOAT_ARRAY:
        *routine = "aclCreateFloatArray";
        return aclCreateFloatArray(argument->data, argument->count);
    default:
        *routine = "aclCreateBoolArray";
        return aclCreateBoolArray(argument->data, argument->count);
    }
}

static int32_t destroy_object(int32_t kind, void *object, const char **routine)
{
    switch (kind) {
    case AP_TENSOR:
        *routine = "aclDestroyTensor";
        return aclDestroyTensor(object);
    case AP_TENSOR_LIST:
        *routine = "aclDestroyTensorList";
        return aclDestroyTensorList(object);
    case AP_SCALAR:
        *routine = "aclDestroyScalar";
        return aclDestroyScalar(object);
    case AP_SCALAR_LIST:
        *routine = "aclDestroyScalarList";
        return aclDestroyScalarList(object);
    case AP_INT_ARRAY:
        *routine = "aclDestroyIntArray";
        return aclDestroyIntArray(object);
    case AP_FLOAT_ARRAY:
        *routine = "aclDestroyFloatArray";
        return aclDestroyFloatArray(object);
    default:
        *routine = "aclDestroyBoolArray";
        return aclDestroyBoolArray(object);
    }
}

static int32_t create_objects(ap_prepared *p, ap_word *words)
{
    const ap_call *call = p->call;
    ap_tensor **tensors = p->tensors;
    for (uint32_t i = 0; i < call->argument_count; ++i) {
        const ap_argument *a = &call->arguments[i];
        const char *routine = NULL;
        int32_t code = AP_OK;
        p->objects[i] = NULL;
        p->object_count = i + 1;
        switch (a->kind) {
        case AP_TENSOR:
            if (*tensors) {
                routine = "aclCreateTensor";
                p->objects[i] = create_tensor(*tensors);
            }
            ++tensors;
            break;
        case AP_TENSOR_LIST:
            if (a->present)
                code = create_tensor_list(tensors, a->count, (int32_t)i, &p->objects[i]);
            tensors += a->count;
            break;
        case AP_SCALAR_LIST:
            if (a->present)
                code = create_scalar_list(a->data, a->count, (int32_t)i, &p->objects[i]);
            break;
        case AP_SCALAR:
        case AP_INT_ARRAY:
        case AP_FLOAT_ARRAY:
        case AP_BOOL_ARRAY:
            if (a->present)
                p->objects[i] = create_value(a, &routine);
            break;
        default:
            words[i] = a->word;
            continue;
        }
        if (AP_UNLIKELY(code != AP_OK))
            return code;
        if (AP_UNLIKELY(routine && !p->objects[i]))
            return fail(AP_PHASE_CREATE, 0, routine, (int32_t)i, -1);
        words[i].pointer = p->objects[i];
    }
    return AP_OK;
}

/* Reports the first refusal, unless the launch has failed already: then that failure is the one to
   tell. */
static int32_t destroy_objects(ap_prepared *p, int32_t code)
{
    const char *kinds = p->op->kinds; /* the call itself may be gone */
    for (uint32_t i = 0; i < p->object_count; ++i) {
        const char *routine;
        if (!p->objects[i])
            continue;
        int32_t status = destroy_object(kinds[i], p->objects[i], &routine);
        p->objects[i] = NULL;
        if (AP_UNLIKELY(status != 0) && code == AP_OK)
            code = fail(AP_PHASE_DESTROY, status, routine, (int32_t)i, -1);
        else if (AP_UNLIKELY(status != 0))
            aclGetRecentErrMsg(); /* no later error is to show it */
    }
    p->object_count = 0;
    return code;
}
