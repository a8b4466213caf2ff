package pagewise;

/** Values of the parameter <code>threads</code>, on the class: <code>@Threads("1,2,N")</code>. N is the number of CPUs. */
@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE)
public @interface Threads {
    String value();
}
