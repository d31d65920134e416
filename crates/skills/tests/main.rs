//! Skills, served.

mod served;
