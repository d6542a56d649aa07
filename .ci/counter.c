// A library that counts what a process does: allocations, retains and releases, task switches, locks, and the bytes of
// the frames of asynchronous functions.
// LD_PRELOAD loads it before the functions that it counts. It writes the counts to the file $COUNTS when the process ends.
// Only for x86-64: some functions of Swift's runtime have their own calling conventions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long allocations;
__attribute__((visibility("hidden"), used)) unsigned long retains, releases, bridged, switches, accesses, locks, frames;
static char path[4096];

static void count(unsigned long *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { count(&allocations); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(&allocations); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { count(&allocations); return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(&allocations); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    count(&allocations);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

// Increments a counter and jumps to the function of the same name in the next library. No register changes.
#define FORWARD(name, counter)                                                   \
    __attribute__((visibility("hidden"), used)) void *next_##name;              \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
            "lock incq " #counter "(%rip)\n"                                    \
            "jmp *next_" #name "(%rip)\n")

FORWARD(swift_retain, retains);
FORWARD(swift_retain_n, retains);
FORWARD(swift_release, releases);
FORWARD(swift_release_n, releases);
FORWARD(swift_bridgeObjectRetain, bridged);
FORWARD(swift_bridgeObjectRelease, bridged);
FORWARD(swift_bridgeObjectRetain_n, bridged);
FORWARD(swift_bridgeObjectRelease_n, bridged);
FORWARD(swift_task_switch, switches);
FORWARD(swift_beginAccess, accesses);
FORWARD(pthread_mutex_lock, locks);

// The argument is the size of a frame, or of other memory that an asynchronous function needs.
__attribute__((visibility("hidden"), used)) void *next_swift_task_alloc;
__asm__(".text\n.globl swift_task_alloc\n.type swift_task_alloc, @function\nswift_task_alloc:\n"
        "lock addq %rdi, frames(%rip)\n"
        "jmp *next_swift_task_alloc(%rip)\n");

#define FIND(name) next_##name = dlsym(RTLD_NEXT, #name)

// Runs before the constructors of all other libraries (-z initfirst), because these constructors call the functions
// above.
__attribute__((constructor)) static void begin(int argc, char **argv, char **environment) {
    FIND(pthread_mutex_lock);
    FIND(swift_retain);
    FIND(swift_retain_n);
    FIND(swift_release);
    FIND(swift_release_n);
    FIND(swift_bridgeObjectRetain);
    FIND(swift_bridgeObjectRelease);
    FIND(swift_bridgeObjectRetain_n);
    FIND(swift_bridgeObjectRelease_n);
    FIND(swift_task_switch);
    FIND(swift_beginAccess);
    FIND(swift_task_alloc);
    // Removes COUNTS and LD_PRELOAD from the environment, so that the server, which is another process, is not counted.
    char **kept = environment;
    for (char **entry = environment; *entry; entry++) {
        if (!strncmp(*entry, "COUNTS=", 7)) snprintf(path, sizeof path, "%s", *entry + 7);
        else if (strncmp(*entry, "LD_PRELOAD=", 11)) *kept++ = *entry;
    }
    *kept = NULL;
}

__attribute__((destructor)) static void end(void) {
    FILE *file = path[0] ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "allocations %lu\nretains %lu\nbridged %lu\nswitches %lu\naccesses %lu\nlocks %lu\nframes %lu\n",
            allocations, retains + releases, bridged, switches, accesses, locks, frames);
    fclose(file);
}
