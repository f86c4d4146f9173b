/* The loops over flags that every evaluation runs, compiled. python_loops.py has the same in Python.

   Only the stable ABI of Python 3.11 is used, so one build serves all later versions. The functions keep no state and
   no references. They hold the GIL, read only tuples, bytes, integers and dicts by integers, and run no code of Python,
   so nothing changes meanwhile: borrowed references stay valid as long as the arguments. A wrong type raises a
   TypeError, a number out of its range an IndexError, and any other mistake a ValueError. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define BUCKETS 100

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

/* MurmurHash3_x86_32 by Austin Appleby, which is in the public domain, of a prefix and an identifier.

   A prefix is absorbed once, by `prepare`. All flags hash the same identifier, so its blocks are read and scrambled
   once, for each number of bytes that a prefix leaves pending. What remains is a chain of operations for each flag. */

/* A prefix: the hash of its whole blocks, and the bytes that remain, the first one lowest. */
typedef struct {
    uint32_t hash;
    uint32_t pending;
    uint32_t size;
} Prefix;

/* An identifier after so many pending bytes: those that complete the first block, or all if they do not; the blocks
   after it, scrambled; and those at the end, scrambled. */
typedef struct {
    uint32_t first;
    const uint32_t *blocks;
    Py_ssize_t count; /* of the blocks, or -1 if not even the first one is complete */
    uint32_t last;
} Aligned;

static inline uint32_t rotate(uint32_t value, int bits)
{
    return (value << bits) | (value >> (32 - bits));
}

static inline uint32_t scramble(uint32_t block)
{
    return rotate(block * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

static inline uint32_t advance(uint32_t hash, uint32_t scrambled)
{
    return rotate(hash ^ scrambled, 13) * 5 + UINT32_C(0xe6546b64);
}

/* Up to four bytes, the first one lowest on every machine. */
static inline uint32_t read_bytes(const unsigned char *next, Py_ssize_t count)
{
    uint32_t block = 0;
    for (Py_ssize_t byte = 0; byte < count; byte++) {
        block |= (uint32_t)next[byte] << (8 * byte);
    }
    return block;
}

static Aligned align(View identifier, uint32_t pending, uint32_t *blocks)
{
    const unsigned char *next = identifier.start, *end = identifier.start + identifier.size;
    Py_ssize_t missing = 4 - (Py_ssize_t)pending;
    if (identifier.size < missing) {
        return (Aligned){read_bytes(next, identifier.size), blocks, -1, 0};
    }
    Aligned aligned = {read_bytes(next, missing), blocks, 0, 0};
    for (next += missing; end - next >= 4; next += 4) {
        blocks[aligned.count++] = scramble(read_bytes(next, 4));
    }
    aligned.last = scramble(read_bytes(next, end - next));
    return aligned;
}

/* Advance up to LANES hashes over blocks: in four vectors, because each step of one waits for the step before. The
   vectors are those of gcc and clang: of 16 bytes on every processor, and of 32 on those that have AVX2. */
#define ADVANCE_LANES(name, size, target) \
    target static void name(uint32_t *hashes, Py_ssize_t count, const uint32_t *blocks, Py_ssize_t block_count) \
    { \
        typedef uint32_t Vector __attribute__((vector_size(size))); \
        Vector lanes[4] = {{0}}; \
        memcpy(lanes, hashes, (size_t)count * sizeof(uint32_t)); \
        Vector a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3]; \
        for (Py_ssize_t block = 0; block < block_count; block++) { \
            a ^= blocks[block], b ^= blocks[block], c ^= blocks[block], d ^= blocks[block]; \
            a = (a << 13 | a >> 19) * 5 + UINT32_C(0xe6546b64); \
            b = (b << 13 | b >> 19) * 5 + UINT32_C(0xe6546b64); \
            c = (c << 13 | c >> 19) * 5 + UINT32_C(0xe6546b64); \
            d = (d << 13 | d >> 19) * 5 + UINT32_C(0xe6546b64); \
        } \
        lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d; \
        memcpy(hashes, lanes, (size_t)count * sizeof(uint32_t)); \
    }

typedef void AdvanceLanes(uint32_t *hashes, Py_ssize_t count, const uint32_t *blocks, Py_ssize_t block_count);

ADVANCE_LANES(advance_16, 16, )
static AdvanceLanes *advance_lanes = advance_16;
static Py_ssize_t lanes_at_once = 16;

#if defined(__x86_64__) && !defined(WITHOUT_AVX2)
ADVANCE_LANES(advance_32, 32, __attribute__((target("avx2"))))

static void choose_lanes(void)
{
    if (__builtin_cpu_supports("avx2")) {
        advance_lanes = advance_32;
        lanes_at_once = 32;
    }
}
#else
static void choose_lanes(void) {}
#endif

/* Hash the identifier after prefixes that leave as many bytes pending. */
static void hash_run(const Prefix *prefixes, Py_ssize_t count, const Aligned *aligned, uint32_t size, uint32_t *found)
{
    int bits = 8 * (int)(prefixes[0].size & 3), is_short = aligned->count < 0;
    for (Py_ssize_t flag = 0; flag < count; flag++) {
        uint32_t first = scramble(prefixes[flag].pending | aligned->first << bits);
        found[flag] = is_short ? prefixes[flag].hash ^ first : advance(prefixes[flag].hash, first);
    }
    for (Py_ssize_t flag = 0; flag < count; flag += lanes_at_once) {
        Py_ssize_t lanes = count - flag < lanes_at_once ? count - flag : lanes_at_once;
        advance_lanes(found + flag, lanes, aligned->blocks, aligned->count);
    }
    for (Py_ssize_t flag = 0; flag < count; flag++) {
        uint32_t hash = found[flag] ^ aligned->last ^ (prefixes[flag].size + size);
        hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
        hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
        found[flag] = hash ^ hash >> 16;
    }
}

/* Hash the identifier after each prefix. */
static int hash_all(View prepared, View identifier, uint32_t *found)
{
    const Prefix *prefixes = (const Prefix *)(const void *)prepared.start;
    Py_ssize_t flags = prepared.size / (Py_ssize_t)sizeof(Prefix), count = 0;
    uint32_t *blocks = PyMem_New(uint32_t, (size_t)(identifier.size / 4 + 1));
    if (blocks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t flag = 0; flag < flags; flag += count) {
        uint32_t pending = prefixes[flag].size & 3;
        for (count = 1; flag + count < flags && (prefixes[flag + count].size & 3) == pending; count++) {
        }
        Aligned aligned = align(identifier, pending, blocks);
        hash_run(prefixes + flag, count, &aligned, (uint32_t)identifier.size, found + flag);
    }
    PyMem_Free(blocks);
    return 0;
}

static int view_prepared(PyObject *object, View *prepared)
{
    if (view_bytes(object, prepared) < 0) {
        return -1;
    }
    if (prepared->size % (Py_ssize_t)sizeof(Prefix) != 0) {
        PyErr_SetString(PyExc_ValueError, "these prefixes were not prepared");
        return -1;
    }
    return 0;
}

static PyObject *prepare(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags;
    if (check_arguments("prepare", given, 2, 2) < 0 || check_tuple(arguments[0], &flags) < 0) {
        return NULL;
    }
    unsigned long seed = PyLong_AsUnsignedLong(arguments[1]);
    if (seed == (unsigned long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, flags * (Py_ssize_t)sizeof(Prefix));
    if (result == NULL) {
        return NULL;
    }
    Prefix *prepared = (Prefix *)(void *)PyBytes_AsString(result); /* nothing else refers to it yet */
    for (Py_ssize_t flag = 0; flag < flags; flag++) {
        View prefix;
        if (view_bytes(PyTuple_GetItem(arguments[0], flag), &prefix) < 0) {
            Py_DECREF(result);
            return NULL;
        }
        const unsigned char *next = prefix.start, *end = prefix.start + prefix.size;
        uint32_t hash = (uint32_t)seed;
        for (; end - next >= 4; next += 4) {
            hash = advance(hash, scramble(read_bytes(next, 4)));
        }
        prepared[flag] = (Prefix){hash, read_bytes(next, end - next), (uint32_t)prefix.size};
    }
    return result;
}

/* The hashes of the identifier after prepared prefixes, which the caller frees, or NULL with an exception set. */
static uint32_t *find_hashes(PyObject *prefixes, PyObject *identifier, Py_ssize_t *flags)
{
    View prepared, hashed;
    if (view_prepared(prefixes, &prepared) < 0 || view_bytes(identifier, &hashed) < 0) {
        return NULL;
    }
    *flags = prepared.size / (Py_ssize_t)sizeof(Prefix);
    uint32_t *found = PyMem_New(uint32_t, (size_t)*flags);
    if (found == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (hash_all(prepared, hashed, found) < 0) {
        PyMem_Free(found);
        return NULL;
    }
    return found;
}

static PyObject *find_buckets(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags;
    uint32_t *hashes;
    if (check_arguments("find_buckets", given, 2, 2) < 0
        || (hashes = find_hashes(arguments[0], arguments[1], &flags)) == NULL) {
        return NULL;
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, flags);
    if (result != NULL) {
        unsigned char *found = (unsigned char *)PyBytes_AsString(result); /* nothing else refers to it yet */
        for (Py_ssize_t flag = 0; flag < flags; flag++) {
            found[flag] = (unsigned char)(hashes[flag] % BUCKETS);
        }
    }
    PyMem_Free(hashes);
    return result;
}

/* The first variant whose weight, added to those before it, is above the place that a hash takes. */
static int find_variant(PyObject *weights, uint32_t hash, unsigned char *found)
{
    View view;
    if (view_bytes(weights, &view) < 0) {
        return -1;
    }
    Py_ssize_t variants = view.size / (Py_ssize_t)sizeof(uint32_t);
    const uint32_t *sums = (const uint32_t *)(const void *)view.start;
    if (variants == 0 || variants > UCHAR_MAX || sums[variants - 1] == 0) {
        PyErr_SetString(PyExc_ValueError, "there are no weights, or too many");
        return -1;
    }
    uint32_t place = hash % sums[variants - 1];
    Py_ssize_t variant = 0;
    while (sums[variant] <= place) { /* it ends: the last one is above */
        variant++;
    }
    *found = (unsigned char)variant;
    return 0;
}

static PyObject *find_variants(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    Py_ssize_t flags, with_weights;
    uint32_t *hashes;
    if (check_arguments("find_variants", given, 3, 3) < 0 || check_tuple(arguments[1], &with_weights) < 0
        || (hashes = find_hashes(arguments[0], arguments[2], &flags)) == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    if (with_weights != flags) {
        PyErr_SetString(PyExc_ValueError, "weights are required for each flag");
    } else {
        result = PyBytes_FromStringAndSize(NULL, flags);
    }
    unsigned char *found = result == NULL ? NULL : (unsigned char *)PyBytes_AsString(result);
    for (Py_ssize_t flag = 0; result != NULL && flag < flags; flag++) {
        if (find_variant(PyTuple_GetItem(arguments[1], flag), hashes[flag], found + flag) < 0) {
            Py_CLEAR(result);
        }
    }
    PyMem_Free(hashes);
    return result;
}

/* The places of a match's fields, as in matches.py. */
enum { POSITION, RANK, BYTE, NEEDS, PERCENTAGE, VARIANT, SLOT, BY_BUCKET, FIELDS };

static int check_match(PyObject *match)
{
    if (!PyTuple_Check(match) || PyTuple_Size(match) != FIELDS) {
        PyErr_SetString(PyExc_TypeError, "a match is required");
        return -1;
    }
    return 0;
}

/* A number of a match, from 0 to `end` - 1, or -1 with an exception set. */
static Py_ssize_t number_of(PyObject *match, Py_ssize_t field, Py_ssize_t end)
{
    Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GetItem(match, field));
    if (number < 0 || number >= end) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_IndexError, "a number of a match is out of its range");
        }
        return -1;
    }
    return number;
}

/* 1 if the predicates that a match needs hold, 0 if not, or -1 with an exception set. */
static int has_needs(PyObject *match, PyObject *holding)
{
    PyObject *needs = PyTuple_GetItem(match, NEEDS);
    int any = PyObject_IsTrue(needs);
    if (any <= 0) {
        return any < 0 ? -1 : 1;
    }
    PyObject *held = PyNumber_And(needs, holding);
    if (held == NULL) {
        return -1;
    }
    int has = PyObject_RichCompareBool(held, needs, Py_EQ);
    Py_DECREF(held);
    return has;
}

/* Set `match` to the one that includes the user's bucket, or to NULL if none does. */
static int narrow_to_bucket(PyObject **match, View buckets)
{
    Py_ssize_t percentage = number_of(*match, PERCENTAGE, BUCKETS + 1);
    if (percentage < 0 || percentage == BUCKETS) {
        return percentage < 0 ? -1 : 0;
    }
    Py_ssize_t position = number_of(*match, POSITION, buckets.size);
    if (position < 0) {
        return -1;
    }
    unsigned char bucket = buckets.start[position];
    PyObject *by_bucket = PyTuple_GetItem(*match, BY_BUCKET);
    if (by_bucket == Py_None) {
        *match = bucket < percentage ? *match : NULL;
        return 0;
    }
    Py_ssize_t buckets_known;
    if (check_tuple(by_bucket, &buckets_known) < 0) {
        return -1;
    }
    PyObject *inside = PyTuple_GetItem(by_bucket, bucket); /* an IndexError beyond the last one */
    if (inside == NULL || (inside != Py_None && check_match(inside) < 0)) {
        return -1;
    }
    *match = inside == Py_None ? NULL : inside;
    return 0;
}

/* The first match of each flag so far, by the flag's position; and the positions, in the order in which they came. */
typedef struct {
    Py_ssize_t flags;
    PyObject **first;
    Py_ssize_t *positions;
    Py_ssize_t count;
} Matches;

/* Let each match be the first of its flag if its rank is the lowest; `holding` is NULL if it is known to hold. */
static int consider(Matches *matches, PyObject *found, PyObject *holding, View buckets)
{
    Py_ssize_t count;
    if (check_tuple(found, &count) < 0) {
        return -1;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *match = PyTuple_GetItem(found, place);
        int holds = check_match(match) < 0 ? -1 : holding == NULL ? 1 : has_needs(match, holding);
        if (holds < 0 || (holds && narrow_to_bucket(&match, buckets) < 0)) {
            return -1;
        }
        if (!holds || match == NULL) {
            continue;
        }
        Py_ssize_t position = number_of(match, POSITION, matches->flags);
        Py_ssize_t rank = position < 0 ? -1 : number_of(match, RANK, PY_SSIZE_T_MAX);
        if (rank < 0) {
            return -1;
        }
        PyObject *other = matches->first[position];
        if (other == NULL) {
            matches->positions[matches->count++] = position;
        }
        if (other == NULL || rank < PyLong_AsSsize_t(PyTuple_GetItem(other, RANK))) {
            matches->first[position] = match;
        }
    }
    return 0;
}

/* Write the first matches to the decisions, and return a list of them. */
static PyObject *apply(const Matches *matches, PyObject *decided, PyObject *variants)
{
    unsigned char *bytes = (unsigned char *)PyByteArray_AsString(decided);
    unsigned char *of_variants = (unsigned char *)PyByteArray_AsString(variants);
    PyObject *result = PyList_New(matches->count);
    for (Py_ssize_t place = 0; result != NULL && place < matches->count; place++) {
        Py_ssize_t position = matches->positions[place];
        PyObject *match = matches->first[position];
        Py_ssize_t byte = number_of(match, BYTE, UCHAR_MAX + 1), slot = 0, variant = 0;
        int varies = PyTuple_GetItem(match, VARIANT) != Py_None;
        if (varies) {
            slot = number_of(match, SLOT, PyByteArray_Size(variants));
            variant = slot < 0 ? -1 : number_of(match, VARIANT, UCHAR_MAX + 1);
        }
        if (byte < 0 || variant < 0) {
            Py_CLEAR(result);
            break;
        }
        bytes[position] = (unsigned char)byte;
        if (varies) {
            of_variants[slot] = (unsigned char)variant;
        }
        Py_INCREF(match);
        PyList_SetItem(result, place, match);
    }
    return result;
}

static PyObject *apply_rules(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    View buckets;
    if (check_arguments("apply_rules", given, 6, 6) < 0 || view_bytes(arguments[3], &buckets) < 0) {
        return NULL;
    }
    if (!PyLong_Check(arguments[1]) || !PyByteArray_Check(arguments[4]) || !PyByteArray_Check(arguments[5])) {
        PyErr_SetString(PyExc_TypeError, "an integer and two bytearrays are required");
        return NULL;
    }
    Matches matches = {PyByteArray_Size(arguments[4]), NULL, NULL, 0};
    matches.first = PyMem_Calloc((size_t)matches.flags, sizeof(PyObject *));
    matches.positions = PyMem_New(Py_ssize_t, (size_t)matches.flags);
    PyObject *result = NULL;
    if (matches.first == NULL || matches.positions == NULL) {
        PyErr_NoMemory();
    } else if (consider(&matches, arguments[0], arguments[1], buckets) == 0
               && consider(&matches, arguments[2], NULL, buckets) == 0) {
        result = apply(&matches, arguments[4], arguments[5]);
    }
    PyMem_Free(matches.first);
    PyMem_Free(matches.positions);
    return result;
}

static PyObject *select_bytes(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    View source, view;
    if (check_arguments("select_bytes", given, 2, 2) < 0 || view_bytes(arguments[0], &source) < 0
        || view_bytes(arguments[1], &view) < 0) {
        return NULL;
    }
    const uint32_t *places = (const uint32_t *)(const void *)view.start;
    Py_ssize_t count = view.size / (Py_ssize_t)sizeof(uint32_t);
    PyObject *result = PyBytes_FromStringAndSize(NULL, count);
    if (result == NULL) {
        return NULL;
    }
    unsigned char *found = (unsigned char *)PyBytes_AsString(result); /* nothing else refers to it yet */
    for (Py_ssize_t place = 0; place < count; place++) {
        if ((Py_ssize_t)places[place] >= source.size) {
            PyErr_SetString(PyExc_IndexError, "a place is beyond the end");
            Py_DECREF(result);
            return NULL;
        }
        found[place] = source.start[places[place]];
    }
    return result;
}

/* The fragment of a flag at a place; the next of `variants` selects one, if the flag has one for each variant. */
static int view_fragment(PyObject *fragments, unsigned char place, View *variants, View *fragment)
{
    PyObject *found = NULL;
    if (PyDict_Check(fragments)) {
        PyObject *key = PyLong_FromLong(place);
        found = key == NULL ? NULL : PyDict_GetItemWithError(fragments, key);
        Py_XDECREF(key);
    } else if (PyTuple_Check(fragments)) {
        found = PyTuple_GetItem(fragments, place);
    } else {
        PyErr_SetString(PyExc_TypeError, "a tuple or a dict is required");
    }
    if (found != NULL && PyTuple_Check(found)) {
        if (variants->size == 0) {
            PyErr_SetString(PyExc_ValueError, "a variant is required for each flag with variants");
            return -1;
        }
        found = PyTuple_GetItem(found, *variants->start++);
        variants->size--;
    }
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_IndexError, "a place is beyond the end");
    }
    return found == NULL ? -1 : view_bytes(found, fragment);
}

/* Take a view of each argument of `join` and of each fragment, in their order. */
static int view_parts(PyObject *const *arguments, Py_ssize_t given, View places, View variants, View *parts)
{
    if (view_bytes(arguments[0], parts++) < 0) {
        return -1;
    }
    for (Py_ssize_t flag = 0; flag < places.size; flag++) {
        PyObject *fragments = PyTuple_GetItem(arguments[1], flag);
        if (view_fragment(fragments, places.start[flag], &variants, parts++) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t tail = 4; tail < given; tail++) {
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
    View places, variants;
    if (check_arguments("join", given, 4, PY_SSIZE_T_MAX) < 0 || check_tuple(arguments[1], &flags) < 0
        || view_bytes(arguments[2], &places) < 0 || view_bytes(arguments[3], &variants) < 0) {
        return NULL;
    }
    if (places.size != flags) {
        PyErr_SetString(PyExc_ValueError, "one place is required for each flag");
        return NULL;
    }
    Py_ssize_t count = flags + given - 3; /* all but the flags, the places and the variants */
    View *parts = PyMem_New(View, (size_t)count);
    if (parts == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = NULL;
    if (view_parts(arguments, given, places, variants, parts) == 0) {
        result = join_views(parts, count);
    }
    PyMem_Free(parts);
    return result;
}

static PyMethodDef methods[] = {
    {"prepare", (PyCFunction)(void (*)(void))prepare, METH_FASTCALL, NULL},
    {"find_buckets", (PyCFunction)(void (*)(void))find_buckets, METH_FASTCALL, NULL},
    {"find_variants", (PyCFunction)(void (*)(void))find_variants, METH_FASTCALL, NULL},
    {"apply_rules", (PyCFunction)(void (*)(void))apply_rules, METH_FASTCALL, NULL},
    {"select_bytes", (PyCFunction)(void (*)(void))select_bytes, METH_FASTCALL, NULL},
    {"join", (PyCFunction)(void (*)(void))join, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_loops", "The compiled form of python_loops.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__loops(void)
{
    choose_lanes();
    return PyModuleDef_Init(&definition);
}
