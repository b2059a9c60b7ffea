/* SPDX-License-Identifier: Apache-2.0 */
/* Python's objects over new memory: the module `aclnn_py._ffi._held`, in the library of the cffi
   extension. A tensor that comes and goes with every expression costs more to wrap than to compute
   when each step is one of the interpreter, so these few are taken here.

   A Held is the one owner of the memory behind an ap_use, as a Handle is of other C objects: it
   gives the memory back once, when the Buffer that has it is closed or goes. It needs the
   interpreter's lock, which also guards the list of all that are open. The ap_use lies in a
   bytearray: that is made in a fraction of the time of a cdata, and cffi sees it as one when
   somebody asks. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <stdbool.h>
#include <string.h>

#include "allocator.h"

/* PyMemberDef slots of Python's classes, read and set without looking them up by name. */
typedef struct {
    PyObject *descriptor;
    descrgetfunc get;
    descrsetfunc set;
} slot;

typedef struct held held;
struct held {
    PyObject_HEAD PyObject *owner; /* the bytearray with the ap_use */
    ap_use *use;
    held *next, *previous;
    int over; /* also before it owns anything */
};

static PyTypeObject *held_type, *buffer_type, *tensor_type;
static slot buffer_device, buffer_raw, buffer_reference, buffer_generation;
static slot tensor_at, tensor_layout, tensor_memory, tensor_offset;
static slot recipe_at, recipe_layout;
static PyObject *busy, *failed, *generation, *zero;
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
    Py_XDECREF(self->owner);
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

/* One with an empty ap_use, which owns nothing yet. */
static held *new_held(void)
{
    held *self = PyObject_New(held, held_type);
    if (!self)
        return NULL;
    self->over = 1;
    self->owner = PyByteArray_FromStringAndSize(NULL, sizeof(ap_use));
    if (!self->owner) {
        Py_DECREF(self);
        return NULL;
    }
    self->use = (ap_use *)(void *)PyByteArray_AsString(self->owner);
    memset(self->use, 0, sizeof *self->use);
    return self;
}

/* From now on the memory in its ap_use is given back, whatever happens. */
static void own(held *self)
{
    self->over = 0;
    self->previous = NULL;
    self->next = newest;
    if (newest)
        newest->previous = self;
    newest = self;
    ++open_count;
}

/* ---- a tensor over it -------------------------------------------------------------- */

static int fill(const slot *which, PyObject *object, PyObject *value)
{
    return which->set(which->descriptor, object, value);
}

/* What a slot holds, as a new reference. */
static PyObject *held_by(const slot *which, PyObject *object)
{
    return which->get(which->descriptor, object, (PyObject *)Py_TYPE(object));
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

/* The tensor that was described in the ap_use of `owner`. */
static PyObject *tensor_over(held *owner, double at, PyObject *layout, PyObject *device)
{
    own(owner);
    PyObject *memory = new_buffer(owner, device);
    if (!memory)
        return NULL;
    PyObject *tensor = PyType_GenericAlloc(tensor_type, 0), *place = PyFloat_FromDouble(at);
    int made = tensor && place && fill(&tensor_memory, tensor, memory) == 0 &&
               fill(&tensor_layout, tensor, layout) == 0 &&
               fill(&tensor_offset, tensor, zero) == 0 && fill(&tensor_at, tensor, place) == 0;
    Py_DECREF(memory);
    Py_XDECREF(place);
    if (made)
        return tensor;
    Py_XDECREF(tensor);
    return NULL;
}

/* fresh(at, index, layout, device): a tensor of the layout at that address over new memory, where
   `index` is that of the device, or negative for the one of the current stream; None where Python
   has to make it. */
static PyObject *fresh(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !tensor_type) {
        PyErr_SetString(PyExc_TypeError, "fresh: expected at, index, layout and device");
        return NULL;
    }
    double layout = PyFloat_AsDouble(arguments[0]);
    long index = PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    held *owner = new_held();
    if (!owner)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    double at = ap_fresh(layout, (int32_t)index, owner->use);
    PyEval_RestoreThread(thread);
    PyObject *made = NULL;
    if (at == 0)
        Py_INCREF(made = Py_None);
    else
        made = tensor_over(owner, at, arguments[2], arguments[3]);
    Py_DECREF(owner);
    return made;
}

#include "recall.c"

#include "lists.c"

/* ---- what is made when it is first asked for --------------------------------------- */

/* A class's attribute over a slot: what the slot holds, or what `make` returns for the object. With
   `__getattr__` for the empty slot every other attribute would cost several times as much. */
typedef struct {
    PyObject_HEAD slot slot;
    PyObject *make;
} lazy;

static PyTypeObject *lazy_type;

static PyObject *lazy_get(PyObject *self, PyObject *object, PyObject *type)
{
    const lazy *attribute = (const lazy *)self;
    if (!object) {
        Py_INCREF(self);
        return self;
    }
    PyObject *value = attribute->slot.get(attribute->slot.descriptor, object, type);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_CallFunctionObjArgs(attribute->make, object, NULL);
}

static int lazy_set(PyObject *self, PyObject *object, PyObject *value)
{
    const slot *where = &((const lazy *)self)->slot;
    return where->set(where->descriptor, object, value);
}

static void lazy_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((lazy *)self)->slot.descriptor);
    Py_XDECREF(((lazy *)self)->make);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot lazy_slots[] = {{Py_tp_dealloc, lazy_dealloc},
                                   {Py_tp_descr_get, lazy_get},
                                   {Py_tp_descr_set, lazy_set},
                                   {0, NULL}};
static PyType_Spec lazy_spec = {.name = "aclnn_py._ffi._held.Lazy",
                                .basicsize = sizeof(lazy),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = lazy_slots};

/* ---- the module -------------------------------------------------------------------- */

/* `descriptor` becomes the slot's own. */
static int use_slot(slot *into, PyObject *descriptor, const char *name)
{
    into->descriptor = descriptor;
    into->get = (descrgetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get);
    into->set = (descrsetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_set);
    if (!into->get || !into->set)
        PyErr_Format(PyExc_TypeError, "%s: not a slot", name);
    return into->get && into->set;
}

static int find_slot(slot *into, PyTypeObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, name);
    return descriptor && use_slot(into, descriptor, name); /* as long as the process */
}

/* lazy_slot(slot, make): an attribute that reads the slot, and is make(object) while it is
   empty. */
static PyObject *lazy_slot(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *descriptor, *make;
    if (!PyArg_ParseTuple(arguments, "OO", &descriptor, &make))
        return NULL;
    lazy *self = PyObject_New(lazy, lazy_type);
    if (!self)
        return NULL;
    Py_INCREF(descriptor);
    Py_INCREF(make);
    self->make = make;
    if (use_slot(&self->slot, descriptor, "lazy_slot"))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* serve(buffer_class, tensor_class, recipe_class, busy, failed): `busy` gives memory back that
   streams may still work on, `failed` raises what was wrong with a launch. */
static PyObject *serve(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyTypeObject *buffers, *tensors, *recipes;
    if (!PyArg_ParseTuple(arguments, "O!O!O!OO", &PyType_Type, &buffers, &PyType_Type, &tensors,
                          &PyType_Type, &recipes, &busy, &failed))
        return NULL;
    if (!find_slot(&buffer_device, buffers, "device") || !find_slot(&buffer_raw, buffers, "_raw") ||
        !find_slot(&buffer_reference, buffers, "_reference") ||
        !find_slot(&buffer_generation, buffers, "_generation") ||
        !find_slot(&tensor_at, tensors, "_made_at") ||
        !find_slot(&tensor_layout, tensors, "_layout") ||
        !find_slot(&tensor_memory, tensors, "_memory") ||
        !find_slot(&tensor_offset, tensors, "_offset") || !find_slot(&recipe_at, recipes, "at") ||
        !find_slot(&recipe_layout, recipes, "layout"))
        return NULL;
    Py_INCREF(busy);
    Py_INCREF(failed);
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

#define CALL(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef functions[] = {
    {"count_open", count_open, METH_NOARGS, NULL},    {"fresh", CALL(fresh), METH_FASTCALL, NULL},
    {"key", CALL(key), METH_FASTCALL, NULL},          {"launch", CALL(launch), METH_FASTCALL, NULL},
    {"lazy_slot", lazy_slot, METH_VARARGS, NULL},     {"make", CALL(make), METH_FASTCALL, NULL},
    {"release_all", release_all, METH_NOARGS, NULL},  {"serve", serve, METH_VARARGS, NULL},
    {"set_generation", set_generation, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_held", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__held(void)
{
    held_type = (PyTypeObject *)PyType_FromSpec(&held_spec);
    lazy_type = (PyTypeObject *)PyType_FromSpec(&lazy_spec);
    zero = PyLong_FromLong(0);
    generation = PyLong_FromLong(0);
    if (!held_type || !lazy_type || !zero || !generation)
        return NULL;
    return PyModule_Create(&definition);
}
