/*
 * Names of functions as their source has them, of C++ and of Rust: shop::Cart::total for _ZNK4shop4Cart5totalEi. By
 * the demangler of GNU binutils (libiberty).
 */
#ifndef TM_FORMAT_AE_SYMBOL_H
#define TM_FORMAT_AE_SYMBOL_H

/*
 * The name of a symbol in the source, with the arguments of templates; full: also with the types of its
 * parameters, which tell functions of one name apart: shop::Cart::total(int) const. NULL: the symbol is that name
 * already, or it is no name that a compiler makes, or longer than any that is of use, or there is no memory. The
 * caller frees it.
 */
char *symbol_source(const char *symbol, int full);

/*
 * Does a name that somebody wrote mean the function of this symbol? It is the symbol, or the name in the source, or the
 * end of that after "::"; the last arguments of templates, and types of parameters, may be left out.
 */
int symbol_is(const char *symbol, const char *name);

/* The same of a name that symbol_source has made, or of a symbol that it leaves as it is */
int symbol_source_is(const char *source, const char *name);

#endif
