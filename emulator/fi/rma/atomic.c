/* Atomics: the host of the memory does them one after the other, which makes them atomic. */


#include "../fi.h"

size_t atomic_size(int type)
{
    static const size_t sizes[] = {
        [FI_INT8] = 1, [FI_UINT8] = 1, [FI_INT16] = 2, [FI_UINT16] = 2, [FI_INT32] = 4, [FI_UINT32] = 4, [FI_INT64] = 8,
        [FI_UINT64] = 8, [FI_FLOAT] = sizeof(float), [FI_DOUBLE] = sizeof(double), [FI_FLOAT_COMPLEX] = sizeof(float _Complex),
        [FI_DOUBLE_COMPLEX] = sizeof(double _Complex), [FI_LONG_DOUBLE] = sizeof(long double),
        [FI_LONG_DOUBLE_COMPLEX] = sizeof(long double _Complex)};
    return type >= 0 && (size_t)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

bool atomic_knows(int type, int op)
{
    bool integer = type >= FI_INT8 && type <= FI_UINT64;
    bool pair = type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX || type == FI_LONG_DOUBLE_COMPLEX;
    if (atomic_size(type) == 0 || op < FI_MIN || op > FI_MSWAP) {
        return false;
    }
    bool orders = op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);
    bool bits = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
    return !(orders && pair) && !(bits && !integer);
}

/* Of a place x, an operand y and a value z to compare with. */
#define ARITHMETIC                                                        \
    case FI_SUM: x = x + y; break;                                        \
    case FI_PROD: x = x * y; break;                                       \
    case FI_LOR: x = x != 0 || y != 0; break;                             \
    case FI_LAND: x = x != 0 && y != 0; break;                            \
    case FI_LXOR: x = (x != 0) != (y != 0); break;                        \
    case FI_ATOMIC_WRITE: x = y; break;                                   \
    case FI_CSWAP: x = z == x ? y : x; break;                             \
    case FI_CSWAP_NE: x = z != x ? y : x; break;
#define ORDER                                                             \
    case FI_MIN: x = y < x ? y : x; break;                                \
    case FI_MAX: x = y > x ? y : x; break;                                \
    case FI_CSWAP_LE: x = z <= x ? y : x; break;                          \
    case FI_CSWAP_LT: x = z < x ? y : x; break;                           \
    case FI_CSWAP_GE: x = z >= x ? y : x; break;                          \
    case FI_CSWAP_GT: x = z > x ? y : x; break;
#define BITS                                                              \
    case FI_BOR: x |= y; break;                                           \
    case FI_BAND: x &= y; break;                                          \
    case FI_BXOR: x ^= y; break;                                          \
    case FI_MSWAP: x = (y & z) | (x & ~z); break;

/* Memory of programs need not be aligned. Signed sums wrap round. */
#define EACH(name, T, CASES)                                                                              \
    static void name(int op, uint8_t *to, const uint8_t *operand, const uint8_t *compare, size_t count)    \
    {                                                                                                      \
        for (size_t i = 0; i < count; i++) {                                                               \
            T x, y, z;                                                                                     \
            memcpy(&x, to + i * sizeof x, sizeof x);                                                       \
            memcpy(&y, operand + i * sizeof y, sizeof y);                                                  \
            memcpy(&z, (compare != NULL ? compare : operand) + i * sizeof z, sizeof z);                    \
            switch (op) { CASES }                                                                          \
            memcpy(to + i * sizeof x, &x, sizeof x);                                                       \
        }                                                                                                  \
    }

EACH(each_i8, int8_t, ARITHMETIC ORDER BITS)
EACH(each_u8, uint8_t, ARITHMETIC ORDER BITS)
EACH(each_i16, int16_t, ARITHMETIC ORDER BITS)
EACH(each_u16, uint16_t, ARITHMETIC ORDER BITS)
EACH(each_i32, int32_t, ARITHMETIC ORDER BITS)
EACH(each_u32, uint32_t, ARITHMETIC ORDER BITS)
EACH(each_i64, int64_t, ARITHMETIC ORDER BITS)
EACH(each_u64, uint64_t, ARITHMETIC ORDER BITS)
EACH(each_f, float, ARITHMETIC ORDER)
EACH(each_d, double, ARITHMETIC ORDER)
EACH(each_l, long double, ARITHMETIC ORDER)
EACH(each_fc, float _Complex, ARITHMETIC)
EACH(each_dc, double _Complex, ARITHMETIC)
EACH(each_lc, long double _Complex, ARITHMETIC)

void atomic_apply(int op, int type, void *to, const void *operand, const void *compare, size_t count)
{
    typedef void apply(int op, uint8_t *to, const uint8_t *operand, const uint8_t *compare, size_t count);
    static apply *const all[] = {
        [FI_INT8] = each_i8, [FI_UINT8] = each_u8, [FI_INT16] = each_i16, [FI_UINT16] = each_u16, [FI_INT32] = each_i32,
        [FI_UINT32] = each_u32, [FI_INT64] = each_i64, [FI_UINT64] = each_u64, [FI_FLOAT] = each_f, [FI_DOUBLE] = each_d,
        [FI_FLOAT_COMPLEX] = each_fc, [FI_DOUBLE_COMPLEX] = each_dc, [FI_LONG_DOUBLE] = each_l,
        [FI_LONG_DOUBLE_COMPLEX] = each_lc};
    all[type](op, to, operand, compare, count);
}

/* ---- the calls: operands, values to compare with, and where results go, in parts of elements */

struct asked {
    const struct fi_ioc *operand, *compare;
    struct fi_ioc *result;
    size_t operands, compares, results;
    uint64_t at, key;
    enum fi_datatype type;
    enum fi_op op;
};

static size_t parts_of(const struct fi_ioc *of, size_t n, size_t size, struct iovec *part)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        part[i] = (struct iovec){of[i].addr, of[i].count * size};
        count += of[i].count;
    }
    return count;
}

static ssize_t ask(struct fid_ep *fid, const struct asked *a, fi_addr_t to, uint64_t flags, void *context)
{
    struct iovec operand[PARTS], compare[PARTS], result[PARTS];
    size_t size = atomic_size(a->type);
    if (!atomic_knows(a->type, a->op)) {
        return -FI_EOPNOTSUPP;
    }
    if (a->operands > PARTS || a->compares > PARTS || a->results > PARTS) {
        return -FI_EINVAL;
    }
    bool reads = a->op == FI_ATOMIC_READ;
    size_t operands = reads ? 0 : a->operands, count = parts_of(a->operand, operands, size, operand);
    size_t compared = parts_of(a->compare, a->compares, size, compare);
    size_t results = parts_of(a->result, a->results, size, result);
    count = reads ? results : count;
    if (count * size > ATOMIC_MOST || (a->compares > 0 && compared != count) || (a->results > 0 && results != count)) {
        return -FI_EINVAL;
    }
    struct transfer *t;
    struct request request = {operand, operands, to, a->at, 0, 0, flags | FI_INJECT, context};
    port_lock();
    int status = transfer_make((struct endpoint *)fid, ATOMIC, &request, compare, a->compares, &t);
    if (status == 0) {
        t->head.key = a->key;
        t->head.op = (uint8_t)a->op;
        t->head.type = (uint8_t)a->type;
        t->head.count = (uint32_t)count;
        t->head.flags |= (uint8_t)((a->results > 0 ? FETCHES : 0) | (a->compares > 0 ? COMPARES : 0));
        t->counter = a->results > 0 ? t->ep->read : t->ep->written;
        t->flags = FI_ATOMIC | (a->results > 0 ? FI_READ : FI_WRITE);
        t->results = a->results;
        memcpy(t->result, result, a->results * sizeof *result);
        port_send(t);
    }
    port_unlock();
    return status;
}

#define FLAGS ((struct endpoint *)fid)->send_flags
#define WHAT enum fi_datatype type, enum fi_op op
#define ELEMENTS(buffer) {(void *)(uintptr_t)(buffer), n}

static ssize_t write_one(struct fid_ep *fid, const void *buffer, size_t n, void *desc, fi_addr_t to, uint64_t at, uint64_t key,
                         WHAT, void *context)
{
    struct fi_ioc one = ELEMENTS(buffer);
    (void)desc;
    return ask(fid, &(struct asked){&one, NULL, NULL, 1, 0, 0, at, key, type, op}, to, FLAGS, context);
}

static ssize_t write_parts(struct fid_ep *fid, const struct fi_ioc *part, void **desc, size_t parts, fi_addr_t to, uint64_t at,
                           uint64_t key, WHAT, void *context)
{
    (void)desc;
    return ask(fid, &(struct asked){part, NULL, NULL, parts, 0, 0, at, key, type, op}, to, FLAGS, context);
}

static ssize_t message(struct fid_ep *fid, const struct fi_msg_atomic *m, const struct fi_ioc *compare, size_t compares,
                       struct fi_ioc *result, size_t results, uint64_t flags)
{
    if (m->rma_iov_count != 1) {
        return -FI_EINVAL;
    }
    return ask(fid, &(struct asked){m->msg_iov, compare, result, m->iov_count, compares, results, m->rma_iov[0].addr,
                                    m->rma_iov[0].key, m->datatype, m->op}, m->addr, flags, m->context);
}

static ssize_t write_message(struct fid_ep *fid, const struct fi_msg_atomic *m, uint64_t flags)
{
    return message(fid, m, NULL, 0, NULL, 0, flags);
}

static ssize_t inject(struct fid_ep *fid, const void *buffer, size_t n, fi_addr_t to, uint64_t at, uint64_t key, WHAT)
{
    struct fi_ioc one = ELEMENTS(buffer);
    return ask(fid, &(struct asked){&one, NULL, NULL, 1, 0, 0, at, key, type, op}, to, SILENT, NULL);
}

static ssize_t fetch_one(struct fid_ep *fid, const void *buffer, size_t n, void *desc, void *result, void *result_desc,
                         fi_addr_t to, uint64_t at, uint64_t key, WHAT, void *context)
{
    struct fi_ioc one = ELEMENTS(buffer), back = ELEMENTS(result);
    (void)desc, (void)result_desc;
    return ask(fid, &(struct asked){&one, NULL, &back, 1, 0, 1, at, key, type, op}, to, FLAGS, context);
}

static ssize_t fetch_parts(struct fid_ep *fid, const struct fi_ioc *part, void **desc, size_t parts, struct fi_ioc *result,
                           void **result_desc, size_t results, fi_addr_t to, uint64_t at, uint64_t key, WHAT, void *context)
{
    (void)desc, (void)result_desc;
    return ask(fid, &(struct asked){part, NULL, result, parts, 0, results, at, key, type, op}, to, FLAGS, context);
}

static ssize_t fetch_message(struct fid_ep *fid, const struct fi_msg_atomic *m, struct fi_ioc *result, void **desc,
                             size_t results, uint64_t flags)
{
    (void)desc;
    return message(fid, m, NULL, 0, result, results, flags);
}

static ssize_t swap_one(struct fid_ep *fid, const void *buffer, size_t n, void *desc, const void *compare, void *compare_desc,
                        void *result, void *result_desc, fi_addr_t to, uint64_t at, uint64_t key, WHAT, void *context)
{
    struct fi_ioc one = ELEMENTS(buffer), with = ELEMENTS(compare), back = ELEMENTS(result);
    (void)desc, (void)compare_desc, (void)result_desc;
    return ask(fid, &(struct asked){&one, &with, &back, 1, 1, 1, at, key, type, op}, to, FLAGS, context);
}

static ssize_t swap_parts(struct fid_ep *fid, const struct fi_ioc *part, void **desc, size_t parts, const struct fi_ioc *compare,
                          void **compare_desc, size_t compares, struct fi_ioc *result, void **result_desc, size_t results,
                          fi_addr_t to, uint64_t at, uint64_t key, WHAT, void *context)
{
    (void)desc, (void)compare_desc, (void)result_desc;
    return ask(fid, &(struct asked){part, compare, result, parts, compares, results, at, key, type, op}, to, FLAGS, context);
}

static ssize_t swap_message(struct fid_ep *fid, const struct fi_msg_atomic *m, const struct fi_ioc *compare, void **compare_desc,
                            size_t compares, struct fi_ioc *result, void **result_desc, size_t results, uint64_t flags)
{
    (void)compare_desc, (void)result_desc;
    return message(fid, m, compare, compares, result, results, flags);
}

static int valid(int type, int op, size_t *count)
{
    if (!atomic_knows(type, op)) {
        return -FI_EOPNOTSUPP;
    }
    if (count != NULL) {
        *count = ATOMIC_MOST / atomic_size(type);
    }
    return 0;
}

static int valid_write(struct fid_ep *fid, WHAT, size_t *count)
{
    (void)fid;
    return op == FI_ATOMIC_READ || op >= FI_CSWAP ? -FI_EOPNOTSUPP : valid(type, op, count);
}

static int valid_fetch(struct fid_ep *fid, WHAT, size_t *count)
{
    (void)fid;
    return op >= FI_CSWAP ? -FI_EOPNOTSUPP : valid(type, op, count);
}

static int valid_swap(struct fid_ep *fid, WHAT, size_t *count)
{
    (void)fid;
    return op < FI_CSWAP ? -FI_EOPNOTSUPP : valid(type, op, count);
}

int atomic_query(struct fid_domain *domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
    size_t count = 0;
    (void)domain;
    int status = (flags & FI_COMPARE_ATOMIC) != 0 ? valid_swap(NULL, type, op, &count)
                 : (flags & FI_FETCH_ATOMIC) != 0 ? valid_fetch(NULL, type, op, &count)
                                                  : valid_write(NULL, type, op, &count);
    if (status == 0 && attr != NULL) {
        *attr = (struct fi_atomic_attr){count, atomic_size(type)};
    }
    return status;
}

struct fi_ops_atomic atomic_ops = {sizeof atomic_ops, write_one, write_parts, write_message, inject, fetch_one, fetch_parts,
                                   fetch_message, swap_one, swap_parts, swap_message, valid_write, valid_fetch, valid_swap};
