package pagewise;

/** On the class: each turn has a process of its own, as in a program that does this once. The option --fresh does the same. */
@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE)
public @interface Fresh {
}
