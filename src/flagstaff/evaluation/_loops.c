/* The loops over flags that every evaluation runs, compiled. python_loops.py has the same in Python.

   Only the stable ABI of Python 3.11 is used, so one build serves all later versions. The functions keep no state and
   no references. They hold the GIL, and read only tuples and bytes, which nothing can change meanwhile: borrowed
   references stay valid as long as the arguments. A wrong type raises a TypeError, a place beyond a
   flag's fragments an IndexError, and any other mistake a ValueError. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <string.h>

#define BUCKETS 100
#define VARIANT_SEED UINT32_C(86028157) /* as in bucketing.py */

/* A view of bytes that another object owns. */
typedef struct {
    const unsigned char *start;
    Py_ssize_t size;
} View;

/* The functions that return an int return 0, or -1 with an exception set. */

static int view_bytes(PyObject *object, View *view)
{
    char *start;
    if (PyBytes_AsStringAndSize(object, &start, &view->size) < 0) { /* a TypeError if it is anything else */
        return -1;
    }
    view->start = (const unsigned char *)start;
    return 0;
}

static int check_tuple(PyObject *object, Py_ssize_t *size)
{
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a tuple is required");
        return -1;
    }
    *size = PyTuple_Size(object);
    return *size < 0 ? -1 : 0;
}

static int check_arguments(const char *name, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most)
{
    if (given >= least && given <= most) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() does not take %zd arguments", name, given);
    return -1;
}

/* MurmurHash3_x86_32 by Austin Appleby, which is in the public domain, of texts that are given in parts. */
typedef struct {
    uint32_t hash;
    uint32_t size;
    uint64_t pending; /* the bytes that do not fill a block yet, the first one lowest */
    int bits;         /* of these: 0, 8, 16 or 24 */
} Murmur;

static inline uint32_t rotate(uint32_t value, int bits)
{
    return (value << bits) | (value >> (32 - bits));
}

static inline uint32_t scramble(uint32_t block)
{
    return rotate(block * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

static inline void absorb_block(Murmur *murmur)
{
    murmur->hash = rotate(murmur->hash ^ scramble((uint32_t)murmur->pending), 13) * 5 + UINT32_C(0xe6546b64);
    murmur->pending >>= 32;
}

static inline void absorb(Murmur *murmur, View view)
{
    const unsigned char *next = view.start, *end = view.start + view.size;
    for (; end - next >= 4; next += 4) {
        /* Little-endian on every machine; compilers make one read of it where they can. */
        uint32_t block = (uint32_t)next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16 | (uint32_t)next[3] << 24;
        murmur->pending |= (uint64_t)block << murmur->bits;
        absorb_block(murmur);
    }
    for (; next < end; next++) {
        murmur->pending |= (uint64_t)*next << murmur->bits;
        murmur->bits += 8;
        if (murmur->bits == 32) {
            absorb_block(murmur);
            murmur->bits = 0;
        }
    }
    murmur->size += (uint32_t)view.size;
}

static inline uint32_t murmur3(View prefix, View identifier, uint32_t seed)
{
    Murmur murmur = {seed, 0, 0, 0};
    absorb(&murmur, prefix);
    absorb(&murmur, identifier);
    uint32_t hash = murmur.hash ^ scramble((uint32_t)murmur.pending) ^ murmur.size;
    hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
    hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
    return hash ^ hash >> 16;
}

static PyObject *find_buckets(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags;
    View identifier, prefix;
    if (check_arguments("find_buckets", given, 2, 2) < 0 || check_tuple(arguments[0], &flags) < 0
        || view_bytes(arguments[1], &identifier) < 0) {
        return NULL;
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, flags);
    if (result == NULL) {
        return NULL;
    }
    unsigned char *found = (unsigned char *)PyBytes_AsString(result); /* nothing else refers to it yet */
    for (Py_ssize_t flag = 0; flag < flags; flag++) {
        if (view_bytes(PyTuple_GetItem(arguments[0], flag), &prefix) < 0) {
            Py_DECREF(result);
            return NULL;
        }
        found[flag] = (unsigned char)(murmur3(prefix, identifier, 0) % BUCKETS);
    }
    return result;
}

static int find_variant(PyObject *prefix, PyObject *table, View identifier, unsigned char *found)
{
    View hashed, variants;
    if (view_bytes(prefix, &hashed) < 0 || view_bytes(table, &variants) < 0) {
        return -1;
    }
    if (variants.size == 0 || (uint64_t)variants.size > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a table is empty or too long");
        return -1;
    }
    *found = variants.start[murmur3(hashed, identifier, VARIANT_SEED) % (uint32_t)variants.size];
    return 0;
}

static PyObject *find_variants(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags, tables;
    View identifier;
    if (check_arguments("find_variants", given, 3, 3) < 0 || check_tuple(arguments[0], &flags) < 0
        || check_tuple(arguments[1], &tables) < 0 || view_bytes(arguments[2], &identifier) < 0) {
        return NULL;
    }
    if (tables != flags) {
        PyErr_SetString(PyExc_ValueError, "one table is required for each flag");
        return NULL;
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, flags);
    if (result == NULL) {
        return NULL;
    }
    unsigned char *found = (unsigned char *)PyBytes_AsString(result); /* nothing else refers to it yet */
    for (Py_ssize_t flag = 0; flag < flags; flag++) {
        PyObject *prefix = PyTuple_GetItem(arguments[0], flag), *table = PyTuple_GetItem(arguments[1], flag);
        if (find_variant(prefix, table, identifier, found + flag) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

/* The fragment of a flag at a place. */
static int view_fragment(PyObject *fragments, unsigned char place, View *fragment)
{
    if (!PyTuple_Check(fragments)) {
        PyErr_SetString(PyExc_TypeError, "a tuple is required");
        return -1;
    }
    PyObject *found = PyTuple_GetItem(fragments, place); /* an IndexError beyond the last one */
    return found == NULL ? -1 : view_bytes(found, fragment);
}

/* Take a view of each argument of `join` and of each fragment, in their order. */
static int view_parts(PyObject *const *arguments, Py_ssize_t given, View places, View *parts)
{
    if (view_bytes(arguments[0], parts++) < 0) {
        return -1;
    }
    for (Py_ssize_t flag = 0; flag < places.size; flag++) {
        if (view_fragment(PyTuple_GetItem(arguments[1], flag), places.start[flag], parts++) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t tail = 3; tail < given; tail++) {
        if (view_bytes(arguments[tail], parts++) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *join_views(const View *parts, Py_ssize_t count)
{
    Py_ssize_t size = 0;
    for (Py_ssize_t part = 0; part < count; part++) {
        if (parts[part].size > PY_SSIZE_T_MAX - size) {
            return PyErr_NoMemory();
        }
        size += parts[part].size;
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, size);
    if (result == NULL) {
        return NULL;
    }
    char *next = PyBytes_AsString(result);
    for (Py_ssize_t part = 0; part < count; part++) {
        memcpy(next, parts[part].start, (size_t)parts[part].size);
        next += parts[part].size;
    }
    return result;
}

static PyObject *join(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags;
    View places;
    if (check_arguments("join", given, 3, PY_SSIZE_T_MAX) < 0 || check_tuple(arguments[1], &flags) < 0
        || view_bytes(arguments[2], &places) < 0) {
        return NULL;
    }
    if (places.size != flags) {
        PyErr_SetString(PyExc_ValueError, "one place is required for each flag");
        return NULL;
    }
    Py_ssize_t count = flags + given - 2; /* all but the flags and the places */
    View *parts = PyMem_New(View, (size_t)count);
    if (parts == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = NULL;
    if (view_parts(arguments, given, places, parts) == 0) {
        result = join_views(parts, count);
    }
    PyMem_Free(parts);
    return result;
}

static PyMethodDef methods[] = {
    {"find_buckets", (PyCFunction)(void (*)(void))find_buckets, METH_FASTCALL, NULL},
    {"find_variants", (PyCFunction)(void (*)(void))find_variants, METH_FASTCALL, NULL},
    {"join", (PyCFunction)(void (*)(void))join, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_loops", "The compiled form of python_loops.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__loops(void)
{
    return PyModuleDef_Init(&definition);
}
