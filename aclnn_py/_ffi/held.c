/* SPDX-License-Identifier: Apache-2.0 */
/* Python's objects over new memory: the module `aclnn_py._ffi._held`, in the library of the cffi
   extension. A tensor that comes and goes with every expression costs more to wrap than to compute
   when each step is one of the interpreter, so these few are taken here.

   A Held is the one owner of the memory behind an ap_use, as a Handle is of other C objects: it
   gives the memory back once, when the Buffer that has it is closed or goes. It needs the
   interpreter's lock, which also guards the list of all that are open. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <stdbool.h>

#include "allocator.h"

/* PyMemberDef slots of Python's classes, set without looking them up by name. */
typedef struct {
    PyObject *descriptor;
    descrsetfunc set;
} slot;

typedef struct held held;
struct held {
    PyObject_HEAD PyObject *owner; /* the cdata with the ap_use */
    ap_use *use;
    held *next, *previous;
    int over;
};

static PyTypeObject *held_type, *buffer_type, *tensor_type;
static slot buffer_device, buffer_raw, buffer_reference, buffer_generation;
static slot tensor_at, tensor_layout, tensor_memory, tensor_offset;
static PyObject *busy, *generation, *zero;
/* The newest first. */
static held *newest;
static Py_ssize_t open_count;

/* ---- one owner --------------------------------------------------------------------- */

/* Streams that the pool does not know may work on the memory: Python knows how to wait. This may
   run in the middle of anything, with an exception on its way. */
static void give_later(PyObject *owner)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *done = PyObject_CallFunctionObjArgs(busy, owner, NULL);
    if (!done)
        PyErr_WriteUnraisable(busy);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
}

static void release(held *self)
{
    if (self->over)
        return;
    self->over = 1;
    if (self->next)
        self->next->previous = self->previous;
    if (self->previous)
        self->previous->next = self->next;
    else
        newest = self->next;
    --open_count;
    if (ap_pool_give(self->use) != AP_GIVEN)
        give_later(self->owner);
}

static void held_dealloc(PyObject *object)
{
    held *self = (held *)object;
    PyTypeObject *type = Py_TYPE(object);
    release(self);
    Py_DECREF(self->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *held_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    release((held *)self);
    Py_RETURN_NONE;
}

static PyObject *held_over(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((held *)self)->over);
}

static held *hold(PyObject *owner, ap_use *use)
{
    held *self = PyObject_New(held, held_type);
    if (!self)
        return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->use = use;
    self->over = 0;
    self->previous = NULL;
    self->next = newest;
    if (newest)
        newest->previous = self;
    newest = self;
    ++open_count;
    return self;
}

/* ---- a tensor over it -------------------------------------------------------------- */

static int fill(const slot *which, PyObject *object, PyObject *value)
{
    return which->set(which->descriptor, object, value);
}

static PyObject *new_buffer(held *owner, PyObject *device)
{
    PyObject *buffer = PyType_GenericAlloc(buffer_type, 0);
    if (buffer && fill(&buffer_device, buffer, device) == 0 &&
        fill(&buffer_raw, buffer, owner->owner) == 0 &&
        fill(&buffer_reference, buffer, (PyObject *)owner) == 0 &&
        fill(&buffer_generation, buffer, generation) == 0)
        return buffer;
    Py_XDECREF(buffer);
    return NULL;
}

/* over(use, at, layout, device): the tensor that ap_fresh or ap_make described in `use`. */
static PyObject *over(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !tensor_type) {
        PyErr_SetString(PyExc_TypeError, "over: expected use, at, layout and device");
        return NULL;
    }
    double at = PyFloat_AsDouble(arguments[1]);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    ap_tensor *whole = (ap_tensor *)(intptr_t)at;
    /* From here on the memory is given back, whatever happens. */
    held *owner = hold(arguments[0], whole->use);
    if (!owner) {
        ap_pool_give(whole->use);
        return NULL;
    }
    PyObject *memory = new_buffer(owner, arguments[3]);
    Py_DECREF(owner);
    if (!memory)
        return NULL;
    PyObject *tensor = PyType_GenericAlloc(tensor_type, 0);
    int made = tensor && fill(&tensor_memory, tensor, memory) == 0 &&
               fill(&tensor_layout, tensor, arguments[2]) == 0 &&
               fill(&tensor_offset, tensor, zero) == 0 &&
               fill(&tensor_at, tensor, arguments[1]) == 0;
    Py_DECREF(memory);
    if (made)
        return tensor;
    Py_XDECREF(tensor);
    return NULL;
}

/* ---- the module -------------------------------------------------------------------- */

static int find_slot(slot *into, PyTypeObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, name);
    if (!descriptor)
        return 0;
    into->descriptor = descriptor; /* as long as the process */
    into->set = (descrsetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_set);
    if (!into->set)
        PyErr_Format(PyExc_TypeError, "%s: not a slot", name);
    return into->set != NULL;
}

/* serve(buffer_class, tensor_class, busy) */
static PyObject *serve(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyTypeObject *buffers, *tensors;
    if (!PyArg_ParseTuple(arguments, "O!O!O", &PyType_Type, &buffers, &PyType_Type, &tensors,
                          &busy))
        return NULL;
    if (!find_slot(&buffer_device, buffers, "device") || !find_slot(&buffer_raw, buffers, "_raw") ||
        !find_slot(&buffer_reference, buffers, "_reference") ||
        !find_slot(&buffer_generation, buffers, "_generation") ||
        !find_slot(&tensor_at, tensors, "_at") || !find_slot(&tensor_layout, tensors, "_layout") ||
        !find_slot(&tensor_memory, tensors, "_memory") ||
        !find_slot(&tensor_offset, tensors, "_offset"))
        return NULL;
    Py_INCREF(busy);
    Py_INCREF(buffers);
    Py_INCREF(tensors);
    buffer_type = buffers;
    tensor_type = tensors;
    Py_RETURN_NONE;
}

static PyObject *set_generation(PyObject *module, PyObject *number)
{
    (void)module;
    Py_XDECREF(generation);
    Py_INCREF(number);
    generation = number;
    Py_RETURN_NONE;
}

static PyObject *count_open(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromSsize_t(open_count);
}

static PyObject *release_all(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    while (newest) {
        held *first = newest;
        Py_INCREF(first);
        release(first);
        Py_DECREF(first);
    }
    Py_RETURN_NONE;
}

static PyMethodDef held_methods[] = {{"release", held_release, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyGetSetDef held_values[] = {{"over", held_over, NULL, NULL, NULL},
                                    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot held_slots[] = {{Py_tp_dealloc, held_dealloc},
                                   {Py_tp_methods, held_methods},
                                   {Py_tp_getset, held_values},
                                   {0, NULL}};
static PyType_Spec held_spec = {.name = "aclnn_py._ffi._held.Held",
                                .basicsize = sizeof(held),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = held_slots};

static PyMethodDef functions[] = {{"count_open", count_open, METH_NOARGS, NULL},
                                  {"over", (PyCFunction)(void (*)(void))over, METH_FASTCALL, NULL},
                                  {"release_all", release_all, METH_NOARGS, NULL},
                                  {"serve", serve, METH_VARARGS, NULL},
                                  {"set_generation", set_generation, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_held", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__held(void)
{
    held_type = (PyTypeObject *)PyType_FromSpec(&held_spec);
    zero = PyLong_FromLong(0);
    generation = PyLong_FromLong(0);
    if (!held_type || !zero || !generation)
        return NULL;
    return PyModule_Create(&definition);
}
