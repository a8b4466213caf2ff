package pagewise;

/** Marks a static method that <code>pagewise bench FILE.java</code> measures. */
@java.lang.annotation.Target(java.lang.annotation.ElementType.METHOD)
public @interface Bench {
}
