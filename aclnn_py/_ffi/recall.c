/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of functions that were learnt (`tensor/recipes.py`): what decides about the work, and the
   short way itself, each in one call from Python. Included by held.c.

   A key says of each argument what the recipe depends on: of a tensor its layout, of a number its
   type and value. Two calls with equal keys do the same. */
#define AP_MOST_ARGUMENTS 32
#define AP_MOST_GIVEN 8

/* What is known of a call: the parts of its key, each with a reference, and its tensors,
   borrowed. */
typedef struct {
    PyObject *parts[3 * AP_MOST_ARGUMENTS];
    PyObject *tensors[AP_MOST_ARGUMENTS];
    Py_ssize_t part_count, tensor_count;
} call_parts;

static void add_part(call_parts *call, PyObject *part)
{
    Py_INCREF(part);
    call->parts[call->part_count++] = part;
}

static void drop_parts(call_parts *call)
{
    while (call->part_count)
        Py_DECREF(call->parts[--call->part_count]);
}

static int is_exact(PyObject *value, PyTypeObject *type)
{
    return Py_TYPE(value) == type;
}

static int all_whole(PyObject *numbers)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(numbers); ++i)
        if (!is_exact(PyTuple_GetItem(numbers, i), &PyLong_Type))
            return 0;
    return 1;
}

/* Whether a key can say what the argument is; negative with an exception. */
static int add_argument(call_parts *call, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == tensor_type) {
        PyObject *layout = held_by(&tensor_layout, value);
        if (!layout)
            return -1;
        call->parts[call->part_count++] = layout;
        call->tensors[call->tensor_count++] = value;
        return 1;
    }
    if (type == &PyTuple_Type) {
        if (!all_whole(value))
            return 0;
        add_part(call, value);
        return 1;
    }
    if (type == &PyFloat_Type) {
        add_part(call, (PyObject *)type);
        if (PyFloat_AsDouble(value) != 0) {
            add_part(call, value);
            return 1;
        }
        PyObject *text = PyObject_Str(value); /* a zero has a sign */
        if (!text)
            return -1;
        call->parts[call->part_count++] = text;
        return 1;
    }
    /* Values of these types say the same to C whenever they are equal. */
    if (type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
        value == Py_None) {
        add_part(call, (PyObject *)type);
        add_part(call, value);
        return 1;
    }
    return 0;
}

/* The arguments in `named` stand behind the others, and their names behind all. */
static int add_named(call_parts *call, PyObject *named)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    int known = 1;
    while (known > 0 && PyDict_Next(named, &at, &name, &value))
        known = PyUnicode_CompareWithASCIIString(name, "stream") == 0 && value != Py_None
                    ? 0
                    : add_argument(call, value);
    at = 0;
    while (known > 0 && PyDict_Next(named, &at, &name, &value))
        add_part(call, name);
    return known;
}

/* The key of a call as a new reference; null without one, or with an exception. The parts of the
   call keep no references. */
static PyObject *key_of(call_parts *call, PyObject *arguments, PyObject *named)
{
    call->part_count = call->tensor_count = 0;
    Py_ssize_t count = PyTuple_Size(arguments);
    if (count + PyDict_Size(named) > AP_MOST_ARGUMENTS)
        return NULL;
    int known = 1;
    for (Py_ssize_t i = 0; known > 0 && i < count; ++i)
        known = add_argument(call, PyTuple_GetItem(arguments, i));
    if (known > 0 && PyDict_Size(named))
        known = add_named(call, named);
    PyObject *key = known > 0 ? PyTuple_New(call->part_count) : NULL;
    if (!key) {
        drop_parts(call);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < call->part_count; ++i)
        PyTuple_SetItem(key, i, call->parts[i]);
    return key;
}

static PyObject *tensors_of(const call_parts *call)
{
    PyObject *tensors = PyTuple_New(call->tensor_count);
    for (Py_ssize_t i = 0; tensors && i < call->tensor_count; ++i) {
        Py_INCREF(call->tensors[i]);
        PyTuple_SetItem(tensors, i, call->tensors[i]);
    }
    return tensors;
}

static int check_call(const char *name, PyObject *const *arguments, Py_ssize_t count,
                      Py_ssize_t wanted)
{
    if (count == wanted && tensor_type && PyTuple_CheckExact(arguments[count - 2]) &&
        PyDict_CheckExact(arguments[count - 1]))
        return 1;
    PyErr_Format(PyExc_TypeError, "%s: expected a tuple of arguments and a dict of named ones",
                 name);
    return 0;
}

/* key(arguments, named): the key of a call and its tensors; None where no key can say what they
   are. */
static PyObject *key(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    call_parts call;
    if (!check_call("key", arguments, count, 2))
        return NULL;
    PyObject *known = key_of(&call, arguments[0], arguments[1]);
    if (!known) {
        if (!PyErr_Occurred())
            Py_RETURN_NONE;
        return NULL;
    }
    PyObject *tensors = tensors_of(&call);
    PyObject *both = tensors ? PyTuple_Pack(2, known, tensors) : NULL;
    Py_DECREF(known);
    Py_XDECREF(tensors);
    return both;
}

/* The structure of a tensor that launches take; null with an exception. The structure of a view is
   made when it is first asked for. */
static ap_tensor *structure_of(PyObject *tensor)
{
    PyObject *at = held_by(&tensor_at, tensor);
    if (!at) {
        PyErr_Clear();
        at = PyObject_GetAttrString(tensor, "_at");
        if (!at)
            return NULL;
    }
    double address = PyFloat_AsDouble(at);
    Py_DECREF(at);
    return address == -1 && PyErr_Occurred() ? NULL : (ap_tensor *)(intptr_t)address;
}

/* The library has refused it, after part of the work may have been queued: the long way must not
   ask again. Raise what failed. */
static void raise_failure(PyObject *recipe, const call_parts *call, PyObject *made)
{
    PyObject *given = tensors_of(call);
    PyObject *done = given ? PyObject_CallFunctionObjArgs(failed, recipe, given, made, NULL) : NULL;
    Py_XDECREF(given);
    if (done)
        PyErr_SetString(PyExc_SystemError, "make: a launch failed and nobody says why");
    Py_XDECREF(done);
}

/* The result of a call with a known recipe as a new reference, None where Python has to do the
   work, null with an exception. */
static PyObject *make_known(PyObject *recipe, const call_parts *call)
{
    ap_tensor *given[AP_MOST_GIVEN];
    if (call->tensor_count == 0 || call->tensor_count > AP_MOST_GIVEN)
        Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < call->tensor_count; ++i)
        if (!(given[i] = structure_of(call->tensors[i])))
            return NULL;
    PyObject *made = NULL, *at = held_by(&recipe_at, recipe);
    PyObject *layout = held_by(&recipe_layout, recipe);
    PyObject *memory = held_by(&tensor_memory, call->tensors[0]);
    PyObject *device = memory ? held_by(&buffer_device, memory) : NULL;
    held *owner = at && layout && device ? new_held() : NULL;
    if (owner) {
        const ap_recipe *how = (const ap_recipe *)(intptr_t)PyFloat_AsDouble(at);
        PyThreadState *thread = PyEval_SaveThread();
        double where = ap_make(how, owner->use, given);
        PyEval_RestoreThread(thread);
        if (where == 0)
            Py_INCREF(made = Py_None);
        else
            made = tensor_over(owner, where < 0 ? -where : where, layout, device);
        if (made && where < 0) {
            raise_failure(recipe, call, made);
            Py_DECREF(made);
            made = NULL;
        }
        Py_DECREF(owner);
    }
    Py_XDECREF(device);
    Py_XDECREF(memory);
    Py_XDECREF(layout);
    Py_XDECREF(at);
    return made;
}

/* make(recipes, arguments, named): the result of a call, from the recipe for its key; None where
   there is none, or where the short way cannot be gone. */
static PyObject *make(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    call_parts call;
    if (!check_call("make", arguments, count, 3))
        return NULL;
    PyObject *known = key_of(&call, arguments[1], arguments[2]);
    PyObject *recipe = known ? PyDict_GetItemWithError(arguments[0], known) : NULL, *made = NULL;
    Py_XINCREF(recipe); /* another thread may take it out meanwhile */
    Py_XDECREF(known);
    if (recipe)
        made = make_known(recipe, &call);
    else if (!PyErr_Occurred())
        Py_INCREF(made = Py_None);
    Py_XDECREF(recipe);
    return made;
}
