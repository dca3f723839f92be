/* Included by the build in front of every C file, Go's own among them (see python/build_library.py).
 *
 * glibc keeps old versions of its functions for ever, but a new glibc links to the newest. These lines ask for the
 * first version of each function that Go's runtime needs, so that a library built on a current distribution loads on
 * old ones too. The functions have not changed between the versions; in 2.32 and 2.34 they moved from libpthread to
 * libc, or got a second home there. `make wheel` checks the result.
 */
#if defined(__linux__) && !defined(__ASSEMBLER__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define FEWLABEL_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#else
#define FEWLABEL_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#endif
FEWLABEL_OLD(pthread_create);
FEWLABEL_OLD(pthread_detach);
FEWLABEL_OLD(pthread_getattr_np);
FEWLABEL_OLD(pthread_sigmask);
FEWLABEL_OLD(pthread_attr_getstack);
FEWLABEL_OLD(pthread_attr_getstacksize);
FEWLABEL_OLD(pthread_key_create);
FEWLABEL_OLD(pthread_setspecific);
#undef FEWLABEL_OLD
#endif
