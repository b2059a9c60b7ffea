/* SPDX-License-Identifier: Apache-2.0 */
/* Launches through lists of tensors, from the objects that Python passes. Included by held.c.

   A list is looked through here, since each step of the interpreter would cost as much as one of
   its tensors does. Whoever is not a tensor, a null one or a list of them of the length that the
   call was made for is left to Python, which finds another call or says what is wrong. */
#define AP_FEW_TENSORS 64

/* The tensors of a launch. owners: each with a reference, null for a null tensor, because another
   thread may take it out of its list while the launch runs without the interpreter's lock. */
typedef struct {
    ap_tensor **tensors;
    PyObject **owners;
    uint32_t count;
} given_tensors;

/* Whether it is a tensor or a null one; negative with an exception, as in the next two. */
static int add_tensor(given_tensors *given, PyObject *value)
{
    if (value == Py_None) {
        given->owners[given->count] = NULL;
        given->tensors[given->count++] = NULL; /* phase one says whether it takes a null tensor */
        return 1;
    }
    if (Py_TYPE(value) != tensor_type)
        return 0;
    Py_INCREF(value);
    given->owners[given->count] = value;
    ap_tensor *tensor = structure_of(value); /* may run code of Python's */
    given->tensors[given->count++] = tensor;
    return tensor ? 1 : -1;
}

static int add_list(given_tensors *given, const ap_argument *argument, PyObject *value)
{
    if (value == Py_None)
        return !argument->present;
    int list = PyList_CheckExact(value);
    if (!argument->present || !(list || PyTuple_CheckExact(value)) ||
        (uint64_t)PyObject_Size(value) != argument->count)
        return 0;
    for (Py_ssize_t i = 0; i < (Py_ssize_t)argument->count; ++i) {
        PyObject *item = list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i);
        if (!item) {
            PyErr_Clear(); /* another thread has shortened it */
            return 0;
        }
        int known = add_tensor(given, item);
        if (known <= 0)
            return known;
    }
    return 1;
}

/* Whether all arguments are what the call was made for. */
static int add_all(given_tensors *given, const ap_call *call, PyObject *const *values,
                   Py_ssize_t count)
{
    Py_ssize_t next = 0;
    for (uint32_t i = 0; i < call->argument_count; ++i) {
        const ap_argument *argument = &call->arguments[i];
        if (argument->kind != AP_TENSOR && argument->kind != AP_TENSOR_LIST)
            continue;
        if (next == count)
            return 0;
        PyObject *value = values[next++];
        int known = argument->kind == AP_TENSOR ? add_tensor(given, value)
                                                : add_list(given, argument, value);
        if (known <= 0)
            return known;
    }
    return next == count;
}

/* launch(call, stream, ...): ap_launch with an ap_call and an ap_stream by their addresses, 0 for
   the current one, and the tensors and lists of the call in C order. What it returns, or None where
   nothing happened because Python has to look. */
static PyObject *launch(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count < 2 || !tensor_type) {
        PyErr_SetString(PyExc_TypeError, "launch: expected a call, a stream and tensors");
        return NULL;
    }
    const ap_call *call = (const ap_call *)(intptr_t)PyFloat_AsDouble(arguments[0]);
    ap_stream *stream = (ap_stream *)(intptr_t)PyFloat_AsDouble(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    ap_tensor *few[AP_FEW_TENSORS];
    PyObject *few_owners[AP_FEW_TENSORS];
    given_tensors given = {few, few_owners, 0};
    void *many = NULL;
    if (call->tensor_count > AP_FEW_TENSORS) {
        many = PyMem_Malloc(call->tensor_count * (sizeof *given.tensors + sizeof *given.owners));
        if (!many)
            return PyErr_NoMemory();
        given.tensors = many;
        given.owners = (PyObject **)(given.tensors + call->tensor_count);
    }
    int32_t code = 0;
    int known = add_all(&given, call, arguments + 2, count - 2);
    if (known > 0) {
        PyThreadState *thread = PyEval_SaveThread();
        code = ap_launch(stream, call, given.tensors);
        PyEval_RestoreThread(thread);
    }
    while (given.count)
        Py_XDECREF(given.owners[--given.count]);
    PyMem_Free(many);
    if (known < 0)
        return NULL;
    if (known)
        return PyLong_FromLong(code);
    Py_RETURN_NONE;
}
